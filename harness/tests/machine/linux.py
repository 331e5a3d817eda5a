"""A fake /proc and /sys in a folder, and what goes on in a fake machine."""

from pathlib import Path

from sqlitmus.machine.conditions import Rates
from sqlitmus.machine.readiness import Activity, ProcessShare

CPUS = "sys/devices/system/cpu"
CLOCKS = "sys/devices/system/clocksource/clocksource0"

LAPTOP = {
    "proc/cpuinfo": "processor : 0\nmodel name\t: Example CPU 9000 @ 3 GHz\nflags\t\t: fpu sse2\n",
    "proc/stat": "cpu  100 1 20 1000 5 2 3 4 50 6\ncpu0 1 1 1 1 1 1 1 1 1 1\nctxt 777\n",
    "proc/meminfo": "MemTotal:  8000 kB\nDirty:     2048 kB\nWriteback:  1024 kB\n",
    "proc/pressure/cpu": "some avg10=8.07 avg60=5.07 total=3711\nfull avg10=0.00 total=1\n",
    "proc/pressure/io": "some avg10=0.00 avg60=0.00 total=42\nfull avg10=0.00 total=1\n",
    "proc/pressure/memory": "some avg10=0.00 avg60=0.00 total=7\n",
    "etc/os-release": 'NAME="Example"\nPRETTY_NAME="Example Linux 12"\n',
    "sys/class/thermal/thermal_zone0/temp": "41000\n",
    "sys/class/thermal/thermal_zone1/temp": "63500\n",
    f"{CLOCKS}/current_clocksource": "hpet\n",
    f"{CLOCKS}/available_clocksource": "tsc hpet acpi_pm\n",
    f"{CPUS}/intel_pstate/no_turbo": "0\n",
    **{f"{CPUS}/cpu{n}/thermal_throttle/core_throttle_count": f"{n}\n" for n in range(4)},
    **{f"{CPUS}/cpu{n}/topology/thread_siblings_list": f"{n % 2},{n % 2 + 2}" for n in range(4)},
    **{f"{CPUS}/cpufreq/policy{n}/scaling_governor": "powersave\n" for n in range(4)},
    **{f"{CPUS}/cpufreq/policy{n}/scaling_cur_freq": f"{n + 1}000000\n" for n in range(4)},
}
"""A laptop that saves power: two cores with two threads each, with turbo and a slow clock."""

QUIET = Activity(
    rates=Rates(seconds=0.5, steal=0.0, memory_pressure=0.0, throttled=False, on_battery=False),
    busy=0.03,
    disk_bytes_per_s=0.0,
    swapped_bytes=0,
    busiest=[],
    writers=[],
)

BUSY = Activity(
    rates=Rates(seconds=0.5, steal=0.031, memory_pressure=0.12, throttled=True, on_battery=True),
    busy=0.62,
    disk_bytes_per_s=12.5 * 2**20,
    swapped_bytes=3 * 2**20,
    busiest=[ProcessShare("cargo", 4211, 0.98), ProcessShare("evil\x1b[2J", 7, 0.25)],
    writers=[ProcessShare("rsync", 99, 11 * 2**20)],
)


def build(root: Path, files: dict[str, str] | dict[str, bytes]) -> Path:
    """Write `files` below `root`."""
    for name, content in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root
