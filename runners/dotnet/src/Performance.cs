using System.Diagnostics;
using Microsoft.Data.Sqlite;

namespace Sqlitmus;

/// <summary>Performs one job.</summary>
internal static class Performance
{
    private static readonly string[] PragmasReadBack =
    [
        "journal_mode", "synchronous", "cache_size", "mmap_size", "temp_store", "foreign_keys", "busy_timeout",
        "page_size", "locking_mode", "wal_autocheckpoint", "encoding",
    ];

    /// <summary>Never throws for what the job or the database does wrong: that is a result too.</summary>
    public static Result Of(Job job)
    {
        try
        {
            CheckSupported(job);
            return job.Database is null
                ? new Result { Cell = job.Cell, Status = "ok", PeakRssBytes = Facts.PeakRss() }
                : Perform(job);
        }
        catch (UnsupportedException e)
        {
            return new Result { Cell = job.Cell, Status = "unsupported", Reason = e.Message };
        }
        catch (StatementException e)
        {
            return Failed(job, new Failure(e.Message, e.Code, e.Sql));
        }
        catch (SqliteException e)
        {
            return Failed(job, new Failure(e.Message, e.SqliteExtendedErrorCode, null));
        }
        catch (Exception e) when (e is UnequalException or InvalidOperationException or OverflowException)
        {
            return Failed(job, new Failure(e.Message, null, null));
        }
    }

    private static Result Failed(Job job, Failure failure) =>
        new() { Cell = job.Cell, Status = "failed", Error = failure, PeakRssBytes = Facts.PeakRss() };

    private static void CheckSupported(Job job)
    {
        if (job.Connection.Engine.Length > 0)
        {
            throw new UnsupportedException(
                $"Microsoft.Data.Sqlite has no engine options ({string.Join(", ", job.Connection.Engine)})");
        }

        if (job.Measure.Rate is not null)
        {
            throw new UnsupportedException("this runner has no open loop (measure.rate)");
        }

        foreach (var step in job.Steps)
        {
            StepMaker.CheckSupported(step);
        }
    }

    private static Result Perform(Job job)
    {
        var verify = job.Mode == Mode.Verify;
        using var digest = verify ? new Digest() : null;
        ICrew crew = verify || job.Measure.Workers == 1
            ? new Solo(job, new Session(job, digest, worker: false))
            : new Team(job);
        try
        {
            var timings = verify ? null : Measurement.Take(job.Measure, crew.Iterate);
            var tally = timings?.Tally ?? Measurement.Sum(crew.Iterate());
            var readback = Readback(job, crew.First.Connection, digest);
            var result = new Result
            {
                Cell = job.Cell,
                Status = "ok",
                SqliteVersion = crew.First.Connection.ServerVersion,
                Operations = job.Measure.OperationsPerIteration,
                Rows = tally.Rows,
                Affected = tally.Affected,
                Checksum = tally.Checksum,
                Readback = readback,
                Digest = digest?.Finish(),
                WarmupNs = timings?.WarmupNs ?? [],
                IterationsNs = timings?.IterationsNs ?? [],
                CpuNs = timings?.Cpu,
                Workers = timings?.Workers ?? [],
                Pragmas = job.Inspect ? EffectivePragmas(crew.First.Connection) : [],
                Plans = job.Inspect ? Plans(job, crew.First.Connection) : [],
            };
            var start = Stopwatch.GetTimestamp();
            var (open, prepare) = (crew.First.OpenNs, crew.First.PrepareNs);
            crew.Dispose();
            var close = Clock.Nanoseconds(Stopwatch.GetTimestamp() - start);
            return result with { PhasesNs = new Phases(open, prepare, close), PeakRssBytes = Facts.PeakRss() };
        }
        catch
        {
            crew.Dispose();
            throw;
        }
    }

    private static Proof? Readback(Job job, SqliteConnection connection, Digest? digest)
    {
        if (job.Readback.Length == 0)
        {
            return null;
        }

        Tally tally = default;
        foreach (var query in job.Readback)
        {
            Sql.RequireColumns(connection, query.Sql, query.Columns.Length);
            try
            {
                StepMaker.MakeQuery(query.Sql, query.Columns, connection, digest).Execute(0, 1, ref tally);
            }
            catch (Exception e) when (e is SqliteException or InvalidOperationException)
            {
                throw new StatementException(query.Sql, e);
            }
        }

        return new Proof(tally.Rows, tally.Checksum);
    }

    private static KeyValuePair<string, object?>[] EffectivePragmas(SqliteConnection connection)
    {
        // WAL's synchronous is settled by the first read of the file.
        Sql.Execute(connection, "SELECT count(*) FROM sqlite_schema");
        return [.. PragmasReadBack.Select(
            name => KeyValuePair.Create(name, Sql.Scalar(connection, $"PRAGMA {name}")))];
    }

    private static IReadOnlyList<string>[] Plans(Job job, SqliteConnection connection)
    {
        const int Detail = 3;
        return [.. job.Steps.Select(Of)];

        IReadOnlyList<string> Of(StepSpec step)
        {
            var sql = Placeholders.Name(step.Sql);
            var values = step.Parameters.Rows[0];
            // `prepare` has parameters in its SQL and no values for them.
            object[] bound = values.Length == sql.Count ? values : [.. Enumerable.Repeat(DBNull.Value, sql.Count)];
            return step.Operation == Operation.Open
                ? []
                : Sql.Texts(connection, $"EXPLAIN QUERY PLAN {sql.Text}", Detail, bound);
        }
    }
}
