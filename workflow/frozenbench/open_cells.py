"""An experiment that has spent what it may: its score is refused, and its open cells are counted.

Jobs that would have asked have failed, so no table is made; what is published says why.
"""

from __future__ import annotations

from decimal import Decimal

from frozenbench import layout
from frozenbench.canonical import write_atomic, write_json
from frozenbench.closing import refusal_lines
from frozenbench.forecast import command_line
from frozenbench.gateway.ledger import Ledger, amount, beside
from frozenbench.plan import Plan
from frozenbench.publish import empty
from frozenbench.refusals import Refusal


def spend_refusal(plan: Plan) -> Refusal | None:
    """Return what refuses the score where `max_spend` is reached and cells are open, else None."""
    most, _ = plan.config.spend_limit()
    if most is None:
        return None
    spent = Ledger(beside(plan.folder / "controls.json")).spent()
    reached = [name for name, paid in spent.money.items() if paid >= Decimal(str(most))]
    still_open = sum(any(not leaf.exists() for leaf in plan.leaves(cell)) for cell in plan.cells)
    if not reached or not still_open:
        return None
    return Refusal(
        "max_spend",
        f"{amount(most, reached[0])} is reached ({spent.told()} paid for {spent.responses:,} "
        f"responses): {still_open} of {len(plan.cells)} cells open",
        f"raise max_spend in {plan.where} and run again ({command_line(plan)}): only open cells run, "
        "and no response is bought twice",
    )


def tell_open(plan: Plan) -> list[str]:
    """Publish that the score is refused, and return the lines that say so; none where it is not."""
    refusal = spend_refusal(plan)
    if refusal is None:
        return []
    refusals = [refusal.as_dict()]
    lines = refusal_lines(refusals)
    folder = layout.published(plan.name)
    empty(folder)
    text = "\n".join(lines)
    write_atomic(folder / "README.md", f"# {plan.name}\n\n```\n{text}\n```\n".encode())
    write_json(folder / "refusals.json", {"refusals": refusals})
    write_json(folder / "controls.json", plan.controls)
    return lines
