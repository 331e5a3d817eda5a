using System.Diagnostics;

namespace Sqlitmus;

/// <summary>Whoever performs an iteration: the main thread alone, or a team of threads.</summary>
internal interface ICrew : IDisposable
{
    /// <summary>The session for resets, read-back and inspection between iterations.</summary>
    Session First { get; }

    /// <returns>One lap per worker.</returns>
    /// <exception cref="StatementException">A statement failed.</exception>
    Lap[] Iterate();
}

/// <summary>How the operations of an iteration are divided.</summary>
internal static class Shares
{
    /// <returns>Operation numbers begin … end − 1 of worker <paramref name="worker"/>: ⌊N·w/k⌋ … ⌊N·(w+1)/k⌋ − 1.</returns>
    public static (long Begin, long End) Of(long operations, int worker, int workers) =>
        (operations * worker / workers, operations * (worker + 1) / workers);
}

/// <summary>
/// One worker on the main thread; in verify mode, all workers' shares one after the other on one connection.
/// </summary>
internal sealed class Solo(Job job, Session session) : ICrew
{
    public Session First => session;

    public Lap[] Iterate()
    {
        var operations = job.Measure.OperationsPerIteration;
        var laps = new Lap[job.Measure.Workers];
        session.Reset();
        var transaction = session.BeginRead();
        for (var worker = 0; worker < laps.Length; worker++)
        {
            var (begin, end) = Shares.Of(operations, worker, laps.Length);
            laps[worker] = session.Run(begin, end);
        }

        session.EndRead(transaction);
        return laps;
    }

    public void Dispose() => session.Dispose();
}

/// <summary>
/// Threads with one connection each. They stand at the gate between iterations, and at the start line until all have
/// begun their read transactions; only then does the clock run.
/// </summary>
internal sealed class Team : ICrew
{
    private readonly Job _job;
    private readonly Session?[] _sessions;
    private readonly Lap[] _laps;
    private readonly Thread[] _threads;
    private readonly Barrier _gate;
    private readonly Barrier _startLine;
    private volatile Exception? _error;
    private volatile bool _stop;

    public Team(Job job)
    {
        _job = job;
        var count = job.Measure.Workers;
        _sessions = new Session?[count];
        _laps = new Lap[count];
        _gate = new Barrier(count + 1);
        _startLine = new Barrier(count);
        _threads = [.. Enumerable.Range(0, count).Select(
            worker => new Thread(() => Work(worker)) { IsBackground = true, Name = $"worker {worker}" })];
        foreach (var thread in _threads)
        {
            thread.Start();
        }

        _gate.SignalAndWait();
        if (_error is { } error)
        {
            Dispose();
            throw error;
        }
    }

    public Session First => _sessions[0]!;

    public Lap[] Iterate()
    {
        First.Reset();
        _gate.SignalAndWait();
        _gate.SignalAndWait();
        return _error is null ? [.. _laps] : throw _error;
    }

    public void Dispose()
    {
        _stop = true;
        _gate.SignalAndWait();
        foreach (var thread in _threads)
        {
            thread.Join();
        }

        foreach (var session in _sessions)
        {
            session?.Dispose();
        }

        _gate.Dispose();
        _startLine.Dispose();
    }

    private void Work(int worker)
    {
        var (begin, end) = Shares.Of(_job.Measure.OperationsPerIteration, worker, _laps.Length);
        Guard(() => _sessions[worker] = new Session(_job, null, worker: true));
        _gate.SignalAndWait();
        while (true)
        {
            _gate.SignalAndWait();
            if (_stop)
            {
                return;
            }

            var session = _sessions[worker]!;
            Microsoft.Data.Sqlite.SqliteTransaction? transaction = null;
            Guard(() => transaction = session.BeginRead());
            _startLine.SignalAndWait();
            Guard(() => _laps[worker] = session.Run(begin, end));
            Guard(() => session.EndRead(transaction));
            _gate.SignalAndWait();
        }
    }

    /// <summary>Keeps a failed worker coming to the barriers, so that nobody waits for it for ever.</summary>
    private void Guard(Action action)
    {
        try
        {
            action();
        }
        catch (Exception e)
        {
            _error ??= e;
        }
    }
}
