"""Hidden tests of the artifact's own, under the same name."""
#> tests/test_solution.py
def test_total(): pass
def test_total_of_many(): pass
def test_ordered(): pass
def test_tally(): pass
def test_shout(): pass
def test_positive(): pass
def test_positive_refuses(): pass
def test_count(): pass
def test_types(): pass
