using System.Diagnostics;
using Microsoft.Data.Sqlite;

namespace Sqlitmus;

/// <summary>A thread's part of one iteration: ticks of <see cref="Stopwatch"/>, the same in UTC, and what it returned.</summary>
/// <param name="Allocated">Bytes of the managed heap that the thread was given.</param>
internal readonly record struct Lap(
    long Start, long End, DateTime StartUtc, DateTime EndUtc, Tally Tally, long Busy, long Allocated);

/// <summary>One connection with its prepared steps.</summary>
internal sealed class Session : IDisposable
{
    private readonly Job _job;
    private readonly Part _part;
    private readonly Step[] _steps;
    private readonly ILoop _loop;
    private readonly Lease? _lease;
    private readonly bool _opened;

    /// <param name="part">Whose steps these are, and how it goes through them.</param>
    /// <param name="digest">Where rows are written; null where they are not.</param>
    /// <param name="existing">The connection of another session, which closes it; null to open one.</param>
    public Session(Job job, Part part, Digest? digest, SqliteConnection? existing = null)
    {
        (_job, _part) = (job, part);
        var maker = new ConnectionMaker(job.Database!, job.Connection);
        // The writer prepares before the clock, so it keeps its connection.
        _lease = job.Connection.PerOperation && !part.IsWriter ? maker.MakeLease() : null;
        var start = Stopwatch.GetTimestamp();
        _opened = existing is null;
        Connection = existing ?? maker.Open();
        var opened = Stopwatch.GetTimestamp();
        try
        {
            _steps = [.. part.Steps.Select(Make)];
            OpenNs = Clock.Nanoseconds(opened - start);
            PrepareNs = Clock.Nanoseconds(Stopwatch.GetTimestamp() - opened);
            foreach (var spec in part.Steps.Where(spec => spec.Operation is not (Operation.Prepare or Operation.ReadFile)))
            {
                Sql.RequireColumns(Connection, spec.Sql, spec.Columns.Length);
            }
        }
        catch
        {
            Close();
            throw;
        }

        _loop = MakeLoop(MakeWork());

        Step Make(StepSpec spec)
        {
            try
            {
                return StepMaker.Make(spec, Connection, maker, _lease, digest);
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

    /// <summary>The times of operations since <see cref="Forget"/>; null where they are not asked.</summary>
    public Histogram? Latencies { get; private set; }

    /// <summary>How late operations began for which this waited, since <see cref="Forget"/>; null without planned times.</summary>
    public Histogram? Pacing { get; private set; }

    public void Forget()
    {
        Latencies?.Clear();
        Pacing?.Clear();
    }

    /// <summary>Runs reset statements, off the clock.</summary>
    public void Reset(string[] statements)
    {
        foreach (var sql in statements)
        {
            Sql.Execute(Connection, sql);
        }
    }

    /// <summary>Begins the iteration's read transaction, where the part has one, and settles its snapshot with a read.</summary>
    public SqliteTransaction? BeginRead()
    {
        if (_part.Transaction != TransactionKind.Read)
        {
            return null;
        }

        var transaction = Connection.BeginTransaction(deferred: true);
        Step.Enlist(_steps, transaction);
        Sql.Execute(Connection, "SELECT count(*) FROM sqlite_schema");
        return transaction;
    }

    public void EndRead(SqliteTransaction? transaction)
    {
        if (transaction is not null)
        {
            transaction.Commit();
            transaction.Dispose();
            Step.Enlist(_steps, null);
        }
    }

    /// <summary>Times operations <paramref name="begin"/> … <paramref name="end"/> − 1.</summary>
    /// <exception cref="StatementException">A statement failed.</exception>
    /// <exception cref="SqliteException">Something around the statements failed.</exception>
    public Lap Run(long begin, long end)
    {
        var loop = _loop;
        Tally tally = default;
        var held = GC.GetAllocatedBytesForCurrentThread();
        var startUtc = DateTime.UtcNow;
        var start = Stopwatch.GetTimestamp();
        var busy = loop.Run(begin, end, start, ref tally);
        var stop = Stopwatch.GetTimestamp();
        var allocated = GC.GetAllocatedBytesForCurrentThread() - held;
        return new Lap(start, stop, startUtc, DateTime.UtcNow, tally, busy, allocated);
    }

    public void Dispose()
    {
        foreach (var step in _steps)
        {
            step.Site.Command?.Dispose();
        }

        Close();
        _lease?.Dispose();
    }

    private void Close()
    {
        if (_opened)
        {
            Connection.Dispose();
        }
    }

    private Work MakeWork()
    {
        var transaction = _part.Transaction;
        if (_lease is not null)
        {
            return new LeasedWork(_steps, _lease, transaction) { Order = _part.Order };
        }

        return transaction is TransactionKind.Deferred or TransactionKind.Immediate
            ? new TransactionWork(_steps, Connection, transaction == TransactionKind.Deferred) { Order = _part.Order }
            : new BareWork(_steps, Connection, endsTransactions: transaction == TransactionKind.None) { Order = _part.Order };
    }

    private ILoop MakeLoop(Work work)
    {
        var measure = _job.Measure;
        var order = _part.Order;
        var paced = _part.Rate is not null || order is { IsPlanned: true };
        if (_job.Mode == Mode.Verify || (!paced && !measure.Latencies && !measure.TolerateBusy))
        {
            return order is null ? new PlainLoop(work) : new OrderedLoop(work, order);
        }

        Latencies = measure.Latencies ? new Histogram() : null;
        Pace<SystemClock>? pace = null;
        if (paced)
        {
            Pacing = new Histogram();
            var planned = _part.Rate is null ? order : null;
            pace = new Pace<SystemClock>(_part.Rate ?? 1, _part.Offset, default, Pacing, planned);
        }

        return new RecordedLoop<SystemClock>(work, default, Latencies, pace, measure.TolerateBusy, order);
    }
}
