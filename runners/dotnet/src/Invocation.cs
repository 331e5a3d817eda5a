using System.Diagnostics;
using Microsoft.Data.Sqlite;

namespace Sqlitmus;

/// <summary>Performs one job.</summary>
internal static class Invocation
{
    private static readonly string[] PragmasReadBack =
    [
        "journal_mode", "synchronous", "cache_size", "mmap_size", "temp_store", "foreign_keys", "busy_timeout",
        "page_size", "locking_mode", "wal_autocheckpoint", "encoding", "query_only",
    ];

    /// <summary>Never throws for what the job or the database does wrong: that is a result too.</summary>
    public static Result Of(Job job)
    {
        try
        {
            CheckSupported(job);
            if (job.Database is null)
            {
                return new Result { Cell = job.Cell, Status = "ok", PeakRssBytes = Facts.PeakRss() };
            }

            return job.Mode == Mode.Verify ? Verify(job) : Measure(job);
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
        catch (Exception e) when (e is MeasurementException or InvalidOperationException or OverflowException)
        {
            return Failed(job, new Failure(e.Message, null, null));
        }
    }

    private static Result Failed(Job job, Failure failure) =>
        new() { Cell = job.Cell, Status = "failed", Error = failure, PeakRssBytes = Facts.PeakRss() };

    private static void CheckSupported(Job job)
    {
        ConnectionMaker.CheckSupported(job);
        foreach (var step in job.Steps.Concat(job.Writer?.Steps ?? []))
        {
            StepMaker.CheckSupported(step);
        }
    }

    private static Result Verify(Job job)
    {
        using var digest = new Digest();
        var verification = new Verification(job, digest);
        return Close(verification, verification.First, () =>
        {
            var (begin, end) = Parts.OfProcess(job.Measure);
            var answers = verification.Perform(begin, end);
            var result = Inspected(job, verification.First, end - begin, answers, digest);
            return result with { Digest = digest.Finish() };
        });
    }

    private static Result Measure(Job job)
    {
        var workers = new Workers(job, job.Measure.Share is null ? null : ProcessBarrier.OfConsole());
        return Close(workers, workers.First, () =>
        {
            var timings = Iterations.Take(job, workers);
            using var digest = job.Measure.Digest > 0 ? new Digest() : null;
            if (digest is not null)
            {
                var verifying = job with { Mode = Mode.Verify };
                using var verification = new Verification(verifying, digest, workers.First.Connection);
                verification.Perform(0, job.Measure.Digest);
            }

            var (begin, end) = Parts.OfProcess(job.Measure);
            var operations = (end - begin) * timings.Answers.Length;
            return Inspected(job, workers.First, operations, timings.Answers, digest) with
            {
                Digest = digest?.Finish(),
                WarmupNs = timings.WarmupNs,
                IterationsNs = timings.IterationsNs,
                CpuNs = (long)timings.Usage.Cpu.TotalNanoseconds,
                Workers = timings.Workers,
                Switches = timings.Usage.Events?.Switches,
                PageFaults = timings.Usage.Events?.PageFaults,
                AllocatedBytes = timings.Allocated,
                Collections = timings.Usage.Collections,
            };
        });
    }

    /// <summary>What is read off the clock after the last iteration.</summary>
    private static Result Inspected(
        Job job, Session session, long operations, IReadOnlyList<Tally> answers, Digest? digest) => new()
        {
            Cell = job.Cell,
            Status = "ok",
            SqliteVersion = session.Connection.ServerVersion,
            Operations = operations,
            Answers = answers,
            Readback = Readback(job, session.Connection, digest),
            Pragmas = job.Inspect ? EffectivePragmas(session.Connection) : [],
            Plans = job.Inspect ? Plans(job, session.Connection) : [],
        };

    /// <summary>Performs, and closes whatever happens; the time of it is a phase.</summary>
    private static Result Close(IDisposable performer, Session first, Func<Result> perform)
    {
        Result result;
        long start;
        try
        {
            result = perform();
        }
        finally
        {
            start = Stopwatch.GetTimestamp();
            performer.Dispose();
        }

        var close = Clock.Nanoseconds(Stopwatch.GetTimestamp() - start);
        return result with { PhasesNs = new Phases(first.OpenNs, first.PrepareNs, close), PeakRssBytes = Facts.PeakRss() };
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

        return new Proof(tally.Rows, tally.H);
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
            var (sql, names) = step.Named;
            var values = step.Parameters.Rows[0];
            // `prepare` has parameters in its SQL and no values for them.
            object[] bound = values.Length == names.Length ? values : [.. names.Select(_ => DBNull.Value)];
            return step.Operation is Operation.Open or Operation.OpenFile or Operation.Execute or Operation.ReadFile
                ? []
                : Sql.Texts(connection, new NamedSql($"EXPLAIN QUERY PLAN {sql}", names), Detail, bound);
        }
    }
}
