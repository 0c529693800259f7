"""A .pth file with code, in every folder that might be a site folder."""
#> evil.pth
import os; os._exit(0)
#> lib/python3.11/site-packages/evil.pth
import os; os._exit(0)
#> site-packages/evil.pth
import os; os._exit(0)
