-- The file of a run, or of several that were merged: docs/run-file.md explains it.

-- A run has the plan that was frozen before it started, as JSON. In a merged file each `machine` has
-- one; `label` is that machine's name in the run itself.
CREATE TABLE run(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  machine TEXT NOT NULL,
  label TEXT NOT NULL,
  kind TEXT NOT NULL,
  created TEXT NOT NULL,
  complete INTEGER NOT NULL CHECK(complete IN (0, 1)),
  plan TEXT NOT NULL,
  selftest TEXT,
  gate TEXT
) STRICT;
-- What the run recorded of its machine.
CREATE TABLE fact(
  run INTEGER NOT NULL REFERENCES run,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY(run, name)
) STRICT;
-- A runner in a case. `units` of work are in an iteration, 1 where the time is that of a process.
-- `outcome` and `reason` are those of its verification, which `verification` has whole, as JSON.
CREATE TABLE cell(
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run,
  case_id TEXT NOT NULL,
  runner TEXT NOT NULL,
  metric TEXT NOT NULL,
  unit TEXT NOT NULL,
  units INTEGER NOT NULL CHECK(units > 0),
  outcome TEXT CHECK(outcome IN ('ok', 'failed', 'wrong', 'unsupported')),
  reason TEXT,
  verification TEXT,
  UNIQUE(run, case_id, runner)
) STRICT;
-- A pass over all cells, and the machine around it.
CREATE TABLE block(
  run INTEGER NOT NULL REFERENCES run,
  block INTEGER NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY(run, block)
) STRICT, WITHOUT ROWID;
-- An interim analysis after so many blocks: what ended there, and until when the others go on.
CREATE TABLE look(
  run INTEGER NOT NULL REFERENCES run,
  blocks INTEGER NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY(run, blocks)
) STRICT, WITHOUT ROWID;
-- A process. `label` is the runner's name, or canary for its second process in a block.
CREATE TABLE sample(
  id INTEGER PRIMARY KEY,
  cell INTEGER NOT NULL REFERENCES cell,
  label TEXT NOT NULL,
  block INTEGER NOT NULL CHECK(block >= 0),
  position INTEGER NOT NULL,
  outcome TEXT NOT NULL CHECK(outcome IN ('ok', 'failed', 'wrong')),
  reason TEXT,
  log TEXT,
  UNIQUE(cell, label, block)
) STRICT;
-- What a figure is. One that is `per_unit` is of an iteration in `value`, of a unit in `result`.
CREATE TABLE figure(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  unit TEXT NOT NULL,
  per_unit INTEGER NOT NULL CHECK(per_unit IN (0, 1)),
  meaning TEXT NOT NULL
) STRICT;
CREATE TABLE value(
  sample INTEGER NOT NULL REFERENCES sample,
  figure INTEGER NOT NULL REFERENCES figure,
  value REAL NOT NULL CHECK(value = 0 OR abs(value) BETWEEN 1.0842021724855044e-19 AND 9.223372036854776e+18),
  PRIMARY KEY(sample, figure)
) STRICT, WITHOUT ROWID;
-- Nanoseconds of its iterations, as JSON arrays; `lost` is what others took from each lap, and
-- `counted` says which rounds count.
CREATE TABLE iteration(
  sample INTEGER PRIMARY KEY REFERENCES sample,
  warmup TEXT NOT NULL,
  timed TEXT NOT NULL,
  lost TEXT NOT NULL,
  counted TEXT NOT NULL
) STRICT;
-- Latencies, workers, sizes of the log and of the memory, as JSON.
CREATE TABLE detail(
  sample INTEGER PRIMARY KEY REFERENCES sample,
  record TEXT NOT NULL
) STRICT;
-- One row in a merged file: what was refused, and which machines did not arrive, as JSON.
CREATE TABLE merged(
  name TEXT NOT NULL,
  created TEXT NOT NULL,
  sqlitmus TEXT NOT NULL,
  refused TEXT NOT NULL,
  expected TEXT NOT NULL
) STRICT;
-- The figures of all samples that count: the time of a unit of work is the figure `steady`.
CREATE VIEW result AS
  SELECT run.name AS run, run.machine, cell.case_id, cell.runner, sample.label, sample.block,
    figure.name AS figure, figure.unit,
    value.value / iif(figure.per_unit, cell.units, 1) AS value
  FROM value
  JOIN figure ON figure.id = value.figure
  JOIN sample ON sample.id = value.sample
  JOIN cell ON cell.id = sample.cell
  JOIN run ON run.id = cell.run
  WHERE sample.outcome = 'ok';
-- The verdicts on all cells: the verification's, or that of the first sample that went wrong.
CREATE VIEW outcome AS
  SELECT run.name AS run, run.machine, cell.case_id, cell.runner,
    ifnull(bad.outcome, cell.outcome) AS outcome, ifnull(bad.reason, cell.reason) AS reason
  FROM cell
  JOIN run ON run.id = cell.run
  LEFT JOIN sample AS bad ON bad.id = (
    SELECT min(id) FROM sample WHERE cell = cell.id AND outcome <> 'ok');
