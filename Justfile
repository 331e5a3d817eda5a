# The only door to sqlitmus. Run as ./just RECIPE (Windows: just RECIPE): it sets up what the recipe needs first.

set positional-arguments
# an exit code of a recipe says what came out; just has nothing to add to it
set no-exit-message
# recipes work in this folder: relative paths that the user writes are looked up from there
export SQLITMUS_CALLED_FROM := invocation_directory_native()

_list:
    @"{{ just_executable() }}" --justfile "{{ justfile() }}" --list --unsorted

# Set up every runner and hyperfine, and say what is missing
setup: doctor

# Set up the other builds of SQLite that claims compare, too
setup-claims:
    @python -m sqlitmus claims --list

# Is this machine fit to measure, and which runners are here?
doctor *ARGS:
    @python -m sqlitmus doctor "$@"

# Scenarios, runners, profiles, fixtures
list *ARGS:
    @python -m sqlitmus list "$@"

# Check every runner's answers against the oracle
verify *ARGS:
    @python -m sqlitmus verify "$@"

# Measure: the short suite, six to nine minutes
bench-quick *ARGS:
    @python -m sqlitmus run --suite quick "$@"

# Measure: the full suite, 82 cases, budget one hour; --plan says what fits, --time-budget sets it
bench-all *ARGS:
    @python -m sqlitmus run --suite full "$@"

# Measure under load: latencies at fixed rates, writers that meet, checkpoints; under twenty minutes
bench-service *ARGS:
    @python -m sqlitmus run --suite service "$@"

# Measure what you choose; --help tells how
run *ARGS:
    @python -m sqlitmus run "$@"

# Compare two builds or versions of a runner, such as: compare node@24 node@26
compare *ARGS:
    @python -m sqlitmus compare "$@"

# Measure again what others published, such as: claims keys; --list tells which
claims *ARGS:
    @python -m sqlitmus claims "$@"

# Measure your own queries on your own database; `workload init my.toml --database app.db` begins
workload *ARGS:
    @python -m sqlitmus workload "$@"

# What SQLite's settings do here for one runner; about five minutes
advise *ARGS:
    @python -m sqlitmus advise "$@"

# Make the databases of the examples in docs/workload
example-database:
    @python harness/benchmarks/example_database.py

# How often equal things are called different on this machine; about five minutes
selftest *ARGS:
    @python -m sqlitmus selftest "$@"

# Render a run's report again, as html, md or json
report *ARGS:
    @python -m sqlitmus report "$@"

# A run's figures for other tools: csv, claims-csv, json, markdown, bmf or gha-benchmark
export *ARGS:
    @python -m sqlitmus export "$@"

# Merge runs of several machines, such as: merge artifacts/
merge *ARGS:
    @python -m sqlitmus merge "$@"

# Compare each runner's loop with a hand-written one for the same work
[group("work on sqlitmus")]
bench-overhead *ARGS:
    @python harness/benchmarks/overhead.py "$@"

# What sqlitmus itself costs: per invocation, per proof of writes, per analysis and report
[group("work on sqlitmus")]
bench-self *COUNT:
    @python harness/benchmarks/self_cost.py "$@"

# How large the house is: modules, lines, imports, tests
[group("work on sqlitmus")]
bench-house *ARGS:
    @python harness/benchmarks/house.py "$@"

# How fast a page of 2,000 cells is in headless Chromium
[group("work on sqlitmus")]
bench-page *CELLS:
    @python harness/benchmarks/page.py "$@"

# Do the figures say what a user pays? Plain programs in the same sets of turns; an hour, or less with --cases
[group("work on sqlitmus")]
bench-truth *ARGS:
    @python harness/benchmarks/truth.py "$@"

# What an answer on databases as services have them costs: seconds, edits, minutes, verdicts
[group("work on sqlitmus")]
bench-corpora *ARGS:
    @python harness/benchmarks/corpora.py "$@"

# Where do other tools win? Bias, spread and time of sqlitmus and its peers; over an hour, or less with --quick
[group("work on sqlitmus")]
bench-peers *ARGS:
    @python harness/benchmarks/peers.py "$@"

# How near honest cells come to the bounds beyond which their figures are called impossible
[group("work on sqlitmus")]
bench-plausible *ARGS:
    @python harness/benchmarks/plausible.py "$@"

# Plant faults in runners and folders and print what becomes of each; some build a runner
[group("work on sqlitmus")]
bench-faults *TEXTS:
    @python harness/benchmarks/faults.py "$@"

# Kill runs and set-ups at random moments: nothing is lost, doubled, half-made or left running (Linux)
[group("work on sqlitmus")]
bench-kills *ARGS:
    @python harness/benchmarks/kills.py "$@"

# Mutants of run files, workloads, traces, databases and catalogues: words, and no hang or traceback (POSIX)
[group("work on sqlitmus")]
bench-fuzz *ARGS:
    @python harness/benchmarks/fuzz.py "$@"

# How often `compare` would find a small difference on this machine, by runs of self-tests
[group("work on sqlitmus")]
bench-power *ARGS:
    @python harness/benchmarks/power.py "$@"

# False alarms, coverage and power of the statistics, on recorded and synthetic noise
[group("work on sqlitmus")]
bench-statistics:
    @python harness/benchmarks/method.py

# Open a report in headless Chromium: light, dark, narrow, without script
[group("work on sqlitmus")]
check-report FILE *OPTIONS:
    @node reports/check/check.mjs "$@"

# Make all files in a folder executable; artifacts of GitHub Actions forget that they were
executable FOLDER:
    @chmod -R +x "$1"

# Print a JSON Schema of the contract, or of what a run keeps as JSON
schema *ARGS:
    @python -m sqlitmus schema "$@"

# The version of sqlitmus
version:
    @python -m sqlitmus version

# Lint and all tests, or only the checks named
test *NAMES:
    @python -m bootstrap.checks lint test -- "$@"

# The tests that need no runner, node, hyperfine, browser or network, without those that count false alarms
[group("work on sqlitmus")]
test-fast *ARGS:
    @python -m pytest -n logical --dist worksteal -m "not runner and not browser and not network and not simulation" --hypothesis-profile fast "$@"

# What of the harness the tests cover that need no runner, node, hyperfine or browser
[group("work on sqlitmus")]
coverage *ARGS:
    @python -m slipcover --source harness/sqlitmus --json --out .pytest_cache/coverage.json -m pytest -n logical --dist worksteal -m "not runner and not browser" --hypothesis-profile fast "$@"
    @python -c 'import json; total = json.load(open(".pytest_cache/coverage.json"))["summary"]; print("These tests cover {percent_covered:.0f} % of harness/sqlitmus; .pytest_cache/coverage.json has the lines of each file.".format(**total))'

# Linters only, or only those named
[group("work on sqlitmus")]
lint *NAMES:
    @python -m bootstrap.checks lint -- "$@"

# Format all code and apply safe fixes
[group("work on sqlitmus")]
format *NAMES:
    @python -m bootstrap.checks format -- "$@"

# The harness's tests, with pytest's own options
[group("work on sqlitmus")]
pytest *OPTIONS:
    @python -m pytest "$@"

# Render the example pages again from the runs that are kept beside them
[group("work on sqlitmus")]
examples:
    @for name in report all workload service advise compare-node compare-rust claims; do for kind in html md; do python -m sqlitmus report "reports/example/runs/$name" --format "$kind" --out "reports/example/$name.$kind" || exit; done; done
    @folder=$(mktemp -d); python -m sqlitmus merge first=reports/example/runs/earlier second=reports/example/runs/report --out "$folder"; for kind in html md; do python -m sqlitmus report "$folder/latest" --format "$kind" --out "reports/example/merged.$kind"; done; rm -r "$folder"

# Take the README's pictures of the example report in headless Chromium, light and dark
[group("work on sqlitmus")]
picture:
    @node reports/check/picture.mjs reports/example/report.html reports/example
