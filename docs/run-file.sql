-- Ten questions to a run: sqlite3 -box results/latest/run.sqlite < docs/run-file.sql

-- Which figures does the run have?
SELECT name, unit, meaning FROM figure WHERE id IN (SELECT figure FROM value);

-- How long does a unit of work of each case take with each runner, in nanoseconds?
SELECT case_id, runner, round(avg(value)) AS ns FROM result
WHERE figure = 'steady' AND label = runner GROUP BY 1, 2 ORDER BY 1, 3;

-- How many times as slow as the fastest is each runner?
WITH cost AS (SELECT case_id, runner, avg(value) AS ns FROM result
  WHERE figure = 'steady' AND label = runner GROUP BY 1, 2)
SELECT case_id, runner, round(ns / min(ns) OVER (PARTITION BY case_id), 2) AS times
FROM cost ORDER BY 1, 3;

-- How far do the blocks of a cell lie apart?
SELECT case_id, runner, count(*) AS blocks, round(max(value) / min(value), 2) AS spread
FROM result WHERE figure = 'steady' AND label = runner GROUP BY 1, 2 ORDER BY 4 DESC;

-- How far is the A/A control from the runner that it repeats?
SELECT case_id, runner, round(avg(iif(label = 'canary', value, NULL))
  / avg(iif(label = runner, value, NULL)), 3) AS ratio
FROM result WHERE figure = 'steady' GROUP BY 1, 2 HAVING ratio NOT NULL;

-- What went wrong?
SELECT case_id, runner, outcome, reason FROM outcome WHERE outcome <> 'ok';

-- Which runner needs the most memory?
SELECT runner, round(max(value) / 1e6) AS megabytes FROM result
WHERE figure = 'peak_rss' GROUP BY 1 ORDER BY 2 DESC;

-- What did one process do, iteration by iteration?
SELECT key AS number, value AS ns FROM iteration, json_each(timed)
WHERE sample = (SELECT min(sample) FROM iteration);

-- On which machine was it measured?
SELECT name, value FROM fact;

-- Which statements does each case execute?
SELECT planned.value ->> 'id' AS case_id, statement.value AS sql
FROM run, json_each(plan, '$.cases') AS planned, json_each(planned.value, '$.sql') AS statement;
