using System.Diagnostics;
using Microsoft.Data.Sqlite;

namespace Sqlitmus;

/// <summary>A worker's part of one iteration: ticks of <see cref="Stopwatch"/> and what it returned.</summary>
internal readonly record struct Lap(long Start, long End, Tally Tally);

/// <summary>One connection with its prepared steps.</summary>
internal sealed class Session : IDisposable
{
    private readonly Job _job;
    private readonly Step[] _steps;

    public Session(Job job, Digest? digest, bool worker)
    {
        _job = job;
        var maker = new ConnectionMaker(job.Database!, job.Connection);
        var start = Stopwatch.GetTimestamp();
        Connection = maker.Open(worker);
        var opened = Stopwatch.GetTimestamp();
        try
        {
            _steps = [.. job.Steps.Select(Make)];
            OpenNs = Clock.Nanoseconds(opened - start);
            PrepareNs = Clock.Nanoseconds(Stopwatch.GetTimestamp() - opened);
            foreach (var spec in job.Steps.Where(spec => spec.Operation != Operation.Prepare))
            {
                Sql.RequireColumns(Connection, spec.Sql, spec.Columns.Length);
            }
        }
        catch
        {
            Connection.Dispose();
            throw;
        }

        Step Make(StepSpec spec)
        {
            try
            {
                return StepMaker.Make(spec, Connection, maker, digest);
            }
            catch (SqliteException e)
            {
                throw new StatementException(spec.Sql, e);
            }
        }
    }

    public SqliteConnection Connection { get; }

    public long OpenNs { get; }

    public long PrepareNs { get; }

    /// <summary>Runs the job's reset statements, off the clock.</summary>
    public void Reset()
    {
        foreach (var sql in _job.Reset)
        {
            Sql.Execute(Connection, sql);
        }
    }

    /// <summary>Begins the iteration's read transaction, where the job has one, and settles its snapshot with a read.</summary>
    public SqliteTransaction? BeginRead()
    {
        if (_job.Transaction != TransactionKind.Read)
        {
            return null;
        }

        var transaction = Connection.BeginTransaction(deferred: true);
        Enlist(transaction);
        Sql.Execute(Connection, "SELECT count(*) FROM sqlite_schema");
        return transaction;
    }

    public void EndRead(SqliteTransaction? transaction)
    {
        if (transaction is not null)
        {
            transaction.Commit();
            transaction.Dispose();
            Enlist(null);
        }
    }

    /// <summary>Times operations <paramref name="begin"/> … <paramref name="end"/> − 1.</summary>
    /// <exception cref="StatementException">A statement failed.</exception>
    public Lap Run(long begin, long end)
    {
        Tally tally = default;
        var start = Stopwatch.GetTimestamp();
        if (_job.Transaction is TransactionKind.Deferred or TransactionKind.Immediate)
        {
            RunTransactions(begin, end, ref tally);
        }
        else if (_steps.Length == 1)
        {
            // The executions of successive operations are successive too.
            Execute(_steps[0], begin * _steps[0].Site.Repeat, (end - begin) * _steps[0].Site.Repeat, ref tally);
        }
        else
        {
            for (var operation = begin; operation < end; operation++)
            {
                RunSteps(operation, ref tally);
            }
        }

        return new Lap(start, Stopwatch.GetTimestamp(), tally);
    }

    public void Dispose()
    {
        foreach (var step in _steps)
        {
            step.Site.Command?.Dispose();
        }

        Connection.Dispose();
    }

    private void RunTransactions(long begin, long end, ref Tally tally)
    {
        var deferred = _job.Transaction == TransactionKind.Deferred;
        for (var operation = begin; operation < end; operation++)
        {
            using var transaction = Connection.BeginTransaction(deferred);
            Enlist(transaction);
            RunSteps(operation, ref tally);
            transaction.Commit();
            Enlist(null);
        }
    }

    private void RunSteps(long operation, ref Tally tally)
    {
        foreach (var step in _steps)
        {
            Execute(step, operation * step.Site.Repeat, step.Site.Repeat, ref tally);
        }
    }

    private static void Execute(Step step, long first, long count, ref Tally tally)
    {
        try
        {
            step.Execute(first, count, ref tally);
        }
        catch (Exception e) when (e is SqliteException or InvalidOperationException or InvalidCastException)
        {
            throw new StatementException(step.Site.Sql, e);
        }
    }

    /// <summary>The driver refuses a command whose transaction is not the connection's.</summary>
    private void Enlist(SqliteTransaction? transaction)
    {
        foreach (var step in _steps)
        {
            if (step.Site.Command is { } command)
            {
                command.Transaction = transaction;
            }
        }
    }
}
