from frozenbench_candidate import load

roman_numeral = load("solution.py").roman_numeral


def test_four():
    assert roman_numeral(4) == "IV"


def test_forty():
    assert roman_numeral(40) == "XL"


def test_four_hundred_forty_four():
    assert roman_numeral(444) == "CDXLIV"


def test_year():
    assert roman_numeral(1994) == "MCMXCIV"


def test_largest():
    assert roman_numeral(3999) == "MMMCMXCIX"
