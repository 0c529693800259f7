from __future__ import annotations

import socket

from frozenbench.gateway.machine import class_of, machine_class

X86 = """processor\t: 0
vendor_id\t: GenuineIntel
cpu family\t: 6
model\t\t: 143
model name\t: Intel(R) Xeon(R) Platinum 8480+
stepping\t: 8
cpu MHz\t\t: 2000.000

processor\t: 1
vendor_id\t: OtherVendor
"""
ARM = """processor\t: 0
BogoMIPS\t: 50.00
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x3
CPU part\t: 0xd0c
"""


def test_x86_is_vendor_family_model_of_the_first_processor() -> None:
    assert class_of("x86_64", X86) == "x86_64-GenuineIntel-6-143"


def test_arm_is_implementer_architecture_part() -> None:
    assert class_of("aarch64", ARM) == "aarch64-0x41-8-0xd0c"


def test_nothing_known() -> None:
    assert class_of("x86_64", "") == "x86_64-unknown"


def test_this_machine_tells_no_name() -> None:
    assert machine_class() == machine_class()
    assert socket.gethostname() not in machine_class()
    assert " " not in machine_class()
