"""What an experiment has paid: exact sums, whatever writes at the same time or is killed, and the limit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from frozenbench.adapters.contract import ClockFell, PinDrift, Use
from frozenbench.canonical import Refused
from frozenbench.gateway.exchange import ask, spend_of
from frozenbench.gateway.ledger import CellPurse, Ledger, Spending, amount, beside
from frozenbench.gateway.prices import cost, dearest, estimate, use_of, use_of_cut
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_endpoint import MODEL, cut_short, model_cell, says, scripted, slow, status
from wire_endpoint import WIRES, Says, whole

PRICES = {"currency": "USD", "input_per_million": 100_000, "output_per_million": 200_000}
#: What `says` costs at these prices: 11 tokens in, 7 out.
EACH = Decimal("2.5")
REQUEST = {"model": MODEL, "messages": [{"role": "user", "content": "hello"}], "seed": 3}

counts = st.integers(0, 10**7)
money = st.floats(0, 1e6, allow_nan=False).map(lambda value: round(value, 12))


def entry(spend: Any, currency: str = "USD", estimated: bool = False) -> dict[str, Any]:
    return {"key": "k", "spend": spend, "currency": currency, "estimated": estimated}


def paying(cell: Any, path: Path, limit: float | None = None) -> Any:
    """Return the cell with a purse of its own on the ledger at `path`."""
    return replace(cell, purse=CellPurse(Ledger(path), "agent", "openai-chat", PRICES, limit))


# prices


@given(counts, counts, counts, st.integers(0, 100), st.integers(0, 100), st.integers(0, 100))
def test_cached_input_is_a_part_of_the_input(
    given_tokens: int, written: int, cached: int, price: int, out: int, again: int
) -> None:
    prices = {"currency": "EUR", "input_per_million": price, "output_per_million": out}
    use = Use(given_tokens + written, given_tokens, written, cached)
    plain = cost(prices, use)
    assert plain == cost(prices, replace(use, cached=None)), "no price of its own"
    assert plain == pytest.approx((given_tokens * price + written * out) / 1e6)
    found = cost({**prices, "cached_per_million": again}, use)
    hit = min(cached, given_tokens)
    assert found == pytest.approx(
        ((given_tokens - hit) * price + hit * again + written * out) / 1e6
    )
    most = dearest({**prices, "cached_per_million": again})
    assert found <= (given_tokens + written) * most + 1e-9


@given(counts, counts, counts, st.integers(0, 100), st.integers(0, 100), st.integers(0, 100))
def test_what_was_written_into_the_cache_has_its_own_price(
    given_tokens: int, cached: int, kept: int, price: int, again: int, writing: int
) -> None:
    prices = {"currency": "EUR", "input_per_million": price, "output_per_million": 1}
    use = Use(given_tokens, given_tokens, 0, cached, kept)
    assert cost(prices, use) == pytest.approx(given_tokens * price / 1e6), "no price of its own"
    prices |= {"cached_per_million": again, "cache_write_per_million": writing}
    hit = min(cached, given_tokens)
    stored = min(kept, given_tokens - hit)
    due = (given_tokens - hit - stored) * price + hit * again + stored * writing
    assert cost(prices, use) == pytest.approx(due / 1e6)
    assert due <= given_tokens * 1e6 * dearest(prices) + 1e-6


CUT_USES = [
    ("openai-chat", b'data: {"choices": [{"delta": {"content": "hello"}}]}\n\n', (None, None)),
    ("openai-chat", b'{"choices": [', (None, None)),
    ("openai-chat", b'data: {"error": {"message": "overloaded"}}\n\n', None),
    ("openai-chat", b'{"error": {"message": "overloaded"}}', None),
    ("openai-chat", b"{}", None),
    ("openai-chat", b"<html>", None),
    ("openai-chat", b"", None),
    ("openai-responses", b'data: {"type": "response.created", "response": {}}\n\n', (None, None)),
    ("anthropic-messages", b'event: error\ndata: {"type": "error", "error": {}}\n\n', None),
    (
        "anthropic-messages",
        b'data: {"type": "message_start", "message": {"usage": {"input_tokens": 40, '
        b'"cache_creation_input_tokens": 2, "output_tokens": 1}}}\n\n',
        (42, None),
    ),
]


@pytest.mark.parametrize(("wire", "came", "told"), CUT_USES)
def test_what_came_of_an_answer_that_broke_off(
    wire: str, came: bytes, told: tuple[int | None, int | None] | None
) -> None:
    use = use_of_cut(wire, {"x": "y"}, came)
    if told is None:
        assert use is None, "nothing of an answer came"
        return
    assert use is not None
    assert use.input == (len('{"x":"y"}') if told[0] is None else told[0])
    assert use.output == (len(came) if told[1] is None else told[1])


@pytest.mark.parametrize("use", [Use(), Use(5, 5, None), Use(5, None, 5)])
def test_what_is_not_reported_has_no_price(use: Use) -> None:
    assert cost(PRICES, use) is None


@pytest.mark.parametrize("wire", WIRES)
def test_the_use_of_a_stored_response_in_every_wire_format(wire: str) -> None:
    told = whole(wire, Says(usage=(10, 5), cached=4), 1)
    use = use_of(wire, told)
    assert (use.input, use.output, use.cached) == (10, 5, 4)
    assert use_of(wire, {"status": 400, "body": {"error": {}}}).total == 0
    assert use_of(wire, whole(wire, Says(usage=None), 1)).total is None


def test_an_estimate_is_a_token_a_byte() -> None:
    request = {"max_tokens": 50, "x": "äöü"}
    assert estimate(request, {"a": "b"}).input == len('{"max_tokens":50,"x":"äöü"}'.encode())
    assert estimate(request, {"a": "b"}).output == len('{"a":"b"}')
    assert estimate(request, None).output == 50, "the request's own limit"
    assert estimate({}, None).output == 0


# the ledger


@settings(max_examples=30)
@given(st.lists(st.tuples(money, st.sampled_from(["USD", "EUR"]), st.booleans()), max_size=20))
def test_sums_are_exact_and_read_on_from_where_they_stood(
    tmp_path_factory: pytest.TempPathFactory, lines: list[tuple[float, str, bool]]
) -> None:
    path = tmp_path_factory.mktemp("ledger") / "spend.jsonl"
    read_on = Ledger(path)
    due: dict[str, Decimal] = {}
    for number, (spend, currency, estimated) in enumerate(lines, start=1):
        Ledger(path).add(entry(spend, currency, estimated))
        due[currency] = due.get(currency, Decimal(0)) + Decimal(repr(spend))
        found = read_on.spent()
        assert (found.money, found.responses) == (due, number)
        assert found == Ledger(path).spent()
    assert read_on.spent().estimated == sum(estimated for _, _, estimated in lines)


@given(st.integers(1, 40))
def test_a_line_that_was_cut_off_counts_nothing_and_spoils_nothing(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    path = tmp_path_factory.mktemp("ledger") / "spend.jsonl"
    ledger = Ledger(path)
    ledger.add(entry(1.5))
    whole_line = path.read_bytes()
    with path.open("ab") as file:
        file.write(whole_line[: min(cut, len(whole_line) - 1)])
    assert ledger.spent().money == {"USD": Decimal("1.5")}
    ledger.add(entry(2))
    assert ledger.spent().money == Ledger(path).spent().money == {"USD": Decimal("3.5")}


ADDS = """
import sys
from pathlib import Path
from frozenbench.gateway.ledger import Ledger
ledger = Ledger(Path(sys.argv[1]))
while True:
    ledger.add({"key": "k" * 500, "spend": 0.25, "currency": "USD", "estimated": False})
    print("x", flush=True)
"""


def test_nothing_is_lost_between_processes_and_by_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "spend.jsonl"
    writers = [
        subprocess.Popen([sys.executable, "-c", ADDS, str(path)], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    said = []
    for writer in writers:
        assert writer.stdout is not None
        said += [writer.stdout.readline() for _ in range(15)]
    for writer in writers:
        os.kill(writer.pid, signal.SIGKILL)
    for writer in writers:
        assert writer.stdout is not None
        said += writer.stdout.read().splitlines()
        writer.wait()
        writer.stdout.close()
    spent = Ledger(path).spent()
    assert len(said) <= spent.responses <= len(said) + 3, "each was written before it was said"
    assert spent.money == {"USD": Decimal("0.25") * spent.responses}
    assert all(json.loads(line) for line in path.read_bytes().splitlines())


def test_money_for_people() -> None:
    assert [amount(value, "EUR") for value in (0, 0.5, 0.0123, 1234)] == [
        "0.00 EUR",
        "0.50 EUR",
        "0.0123 EUR",
        "1,234.00 EUR",
    ]


def test_what_progress_says(tmp_path: Path) -> None:
    ledger = Ledger(beside(tmp_path / "controls.json"))
    assert Spending(ledger, 5.0).told() == ""
    ledger.add(entry(1.25))
    assert Spending(ledger, 5.0).told() == "1.25 USD of 5.00 USD paid"
    assert Spending(ledger).told() == "1.25 USD paid"


# cells that pay


def test_a_response_that_is_shared_is_paid_once(tmp_path: Path) -> None:
    path = tmp_path / "spend.jsonl"
    with scripted() as endpoint:
        cell = model_cell(tmp_path, endpoint.root)
        for _ in range(3):
            ask(paying(cell, path), REQUEST, 0)
        ask(paying(cell, path), REQUEST, 1)
    assert Ledger(path).spent().money == {"USD": 2 * EACH}
    assert len({json.loads(line)["key"] for line in path.read_text().splitlines()}) == 2
    prices = {"prices": PRICES}
    assert spend_of(replace(cell, connection=prices), Use(18, 11, 7)) == (float(EACH), "USD")


def test_at_the_limit_nothing_goes_out_and_what_is_recorded_still_comes(tmp_path: Path) -> None:
    path = tmp_path / "spend.jsonl"
    with scripted() as endpoint:
        cell = model_cell(tmp_path, endpoint.root)
        for occurrence in range(2):
            ask(paying(cell, path, limit=4.0), REQUEST, occurrence)
        with pytest.raises(Refused, match=r"max_spend: 4\.00 USD is reached \(5\.00 USD for 2"):
            ask(paying(cell, path, limit=4.0), REQUEST, 2)
        assert len(endpoint.requests) == 2
        assert ask(paying(cell, path, limit=4.0), REQUEST, 1)[1].recorded
        ask(paying(cell, path, limit=5.1), REQUEST, 2)
    assert len(endpoint.requests) == 3


@settings(max_examples=12)
@given(st.integers(1, 12), st.integers(1, 4))
def test_the_limit_is_passed_by_no_more_than_what_is_under_way(limit: int, workers: int) -> None:
    """Cells that ask at the same time: each may have one answer under way when it is reached."""
    import tempfile

    with tempfile.TemporaryDirectory() as name, scripted() as endpoint:
        path = Path(name) / "spend.jsonl"
        cell = model_cell(Path(name), endpoint.root)

        def work(number: int) -> int:
            for occurrence in range(20):
                try:
                    ask(paying(cell, path, float(limit)), {**REQUEST, "seed": number}, occurrence)
                except Refused:
                    return occurrence
            return 20

        with ThreadPoolExecutor(workers) as pool:
            bought = sum(pool.map(work, range(workers)))
        spent = Ledger(path).spent().money["USD"]
        assert spent == bought * EACH == len(endpoint.requests) * EACH
        assert limit <= spent < limit + workers * EACH


@pytest.mark.parametrize(
    ("answer", "raised", "estimated"),
    [
        (says("x", model="other"), PinDrift, False),
        (says("x", usage=None), None, True),
        (slow(1.0, says("x")), ClockFell, True),
    ],
)
def test_what_is_of_no_use_was_paid_too(
    tmp_path: Path, answer: Callable[..., None], raised: type[Exception] | None, estimated: bool
) -> None:
    path = tmp_path / "spend.jsonl"
    with scripted(answer) as endpoint:
        cell = model_cell(tmp_path, endpoint.root, caps={"wall_clock": 0.4})
        if raised is None:
            ask(paying(cell, path), REQUEST, 0)
        else:
            with pytest.raises(raised):
                ask(paying(cell, path), REQUEST, 0)
    spent = Ledger(path).spent()
    assert (spent.responses, spent.estimated) == (1, int(estimated))
    assert spent.money["USD"] > 0


def test_a_failed_try_costs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "spend.jsonl"
    with scripted(status(500), says("x")) as endpoint:
        ask(paying(model_cell(tmp_path, endpoint.root), path), REQUEST, 0)
    assert Ledger(path).spent().money == {"USD": EACH}


def test_what_broke_off_was_paid_and_stands_apart(tmp_path: Path) -> None:
    path = tmp_path / "spend.jsonl"
    with scripted(cut_short, cut_short, says("x")) as endpoint:
        cell = model_cell(tmp_path, endpoint.root)
        _, served, use = ask(paying(cell, path), REQUEST, 0)
    spent = Ledger(path).spent()
    assert (use.total, served.infra_retries) == (18, 2), "no meter of the agent holds it"
    assert (spent.responses, spent.estimated, spent.cut) == (1, 0, 2)
    assert spent.cut_money["USD"] > 0
    assert spent.money["USD"] == EACH + spent.cut_money["USD"]
    assert spent.told_of_cut().endswith(" USD of it for 2 broken answers, by an estimate")


def test_what_broke_off_counts_towards_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "spend.jsonl"
    with scripted(cut_short, says("x")) as endpoint:
        with pytest.raises(Refused, match="max_spend"):
            ask(paying(model_cell(tmp_path, endpoint.root), path, 0.01), REQUEST, 0)
        assert len(endpoint.requests) == 1


def test_the_ledger_is_written_before_the_response_is_stored(tmp_path: Path) -> None:
    """A cell that is killed in between has paid, and nobody forgets it."""
    path = tmp_path / "spend.jsonl"
    seen = threading.Event()
    with scripted() as endpoint:
        cell = paying(model_cell(tmp_path, endpoint.root), path)
        pay = cell.purse.pay

        class Watching(CellPurse):
            def pay(self, *given: Any) -> None:
                assert not list((tmp_path / "responses").rglob("*.json"))
                pay(*given)
                seen.set()

        ask(replace(cell, purse=Watching(**vars(cell.purse))), REQUEST, 0)
    assert seen.is_set()
