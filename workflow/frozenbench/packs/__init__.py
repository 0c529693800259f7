"""Task packs: read in both dialects, checked, and given their identities."""

from frozenbench.packs.model import Grader, Pack, PackInfo, Task
from frozenbench.packs.reader import read_pack

__all__ = ["Grader", "Pack", "PackInfo", "Task", "read_pack"]
