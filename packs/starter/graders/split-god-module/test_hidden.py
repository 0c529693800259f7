import importlib

import pytest
from support.layout import assignments, definitions, imported_modules

import shop

CONSTANTS = {
    "BULK_QUANTITY": 10,
    "BULK_PERCENT": 5,
    "FREE_SHIPPING_CENTS": 5000,
    "SHIPPING_CENTS": 490,
}
PARTS = {
    "orders": {"Line", "parse_line", "parse_order"},
    "pricing": {"line_total", "order_total", "shipping"},
    "receipts": {"as_euros", "receipt"},
}


def order(*lines):
    return [shop.Line(*line) for line in lines]


# The public behaviour, through the old module.


def test_parse_line():
    assert shop.parse_line(" tea ; 2;350 ") == shop.Line("tea", 2, 350)
    assert shop.parse_line("tea;2;350").cents == 350


@pytest.mark.parametrize(
    "text",
    ["tea", "tea;2", "tea;2;350;x", ";2;350", "tea;0;350", "tea;two;350", "tea;2;x"],
    ids=["one-part", "two-parts", "four-parts", "no-article", "none", "word", "no-price"],
)
def test_parse_line_refuses(text):
    with pytest.raises(ValueError):
        shop.parse_line(text)


def test_parse_order():
    assert shop.parse_order("tea;2;350\n\n  \ncup;1;900\n") == order(
        ("tea", 2, 350), ("cup", 1, 900)
    )
    assert shop.parse_order("") == []


@pytest.mark.parametrize(("quantity", "total"), [(1, 99), (9, 891), (10, 941), (11, 1035)])
def test_line_total(quantity, total):
    assert shop.line_total(shop.Line("tea", quantity, 99)) == total


@pytest.mark.parametrize(("goods", "price"), [(0, 490), (4999, 490), (5000, 0), (5001, 0)])
def test_shipping(goods, price):
    assert shop.shipping(goods) == price


def test_order_total():
    assert shop.order_total(order(("tea", 2, 350), ("cup", 1, 900))) == 2090
    assert shop.order_total(order(("pot", 2, 2500))) == 5000


@pytest.mark.parametrize(
    ("cents", "text"), [(0, "0.00"), (5, "0.05"), (490, "4.90"), (123456, "1234.56")]
)
def test_as_euros(cents, text):
    assert shop.as_euros(cents) == text


def test_receipt():
    lines = order(("tea", 10, 99), ("cup", 1, 900))
    assert shop.receipt(lines) == "10 x tea: 9.41\n1 x cup: 9.00\ntotal: 23.31"


@pytest.mark.parametrize(("name", "value"), CONSTANTS.items(), ids=list(CONSTANTS))
def test_constant(name, value):
    assert getattr(shop, name) == value


# The split.


@pytest.mark.parametrize("part", PARTS)
def test_the_part_is_defined_in_its_module_alone(part):
    defined = definitions(importlib.import_module(part))
    assert {name for names in PARTS.values() for name in names & defined} == PARTS[part]


def test_the_constants_are_defined_in_pricing():
    assert assignments(importlib.import_module("pricing")) >= set(CONSTANTS)


@pytest.mark.parametrize("part", PARTS)
def test_the_old_module_hands_on_the_same_objects(part):
    module = importlib.import_module(part)
    assert all(getattr(shop, name) is getattr(module, name) for name in PARTS[part])


def test_the_old_module_defines_nothing_itself():
    assert definitions(shop) == set()
    assert assignments(shop) & set(CONSTANTS) == set()


@pytest.mark.parametrize("part", PARTS)
def test_no_part_imports_the_old_module(part):
    assert "shop" not in imported_modules(importlib.import_module(part))
