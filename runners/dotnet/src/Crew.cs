namespace Sqlitmus;

/// <summary>
/// Those who perform a measured iteration, with a connection each: a single worker on the main thread, several workers
/// and the writer on threads. Threads stand at the gate between iterations, and all stand at the start line until
/// everyone has begun its read transaction; only then do the clocks run.
/// </summary>
internal sealed class Crew : IDisposable
{
    // A Barrier takes 32767 participants.
    private const int MostThreads = short.MaxValue - 1;

    private readonly Session?[] _sessions;
    private readonly Lap[] _laps;
    private readonly StartSignal? _signal;
    private readonly bool _mainWorks;
    private readonly List<Thread> _threads = [];
    private readonly Barrier _gate;
    private readonly Barrier _startLine;
    private volatile Exception? _error;
    private volatile bool _stop;

    /// <param name="signal">What to await at the start line; null where nothing else begins at the same time.</param>
    /// <param name="start">Starts a thread; null for the usual way.</param>
    /// <exception cref="MeasurementException">The system does not allow so many threads.</exception>
    /// <exception cref="StatementException">A connection cannot be set up, or a statement not be prepared.</exception>
    public Crew(Job job, StartSignal? signal, Action<Thread>? start = null)
    {
        Parts = Sqlitmus.Parts.Of(job);
        _sessions = new Session?[Parts.Length];
        _laps = new Lap[Parts.Length];
        _signal = signal;
        _mainWorks = job.Measure.Workers == 1;
        var first = _mainWorks ? 1 : 0;
        if (Parts.Length - first > MostThreads)
        {
            throw new MeasurementException($"{Parts.Length} workers are more than the {MostThreads} that this runner can hold");
        }

        _gate = new Barrier(Parts.Length - first + 1);
        _startLine = new Barrier(Parts.Length, _ => LeaveStartLine());
        StartThreads(job, first, start ?? (thread => thread.Start()));
        if (_mainWorks)
        {
            Guard(() => _sessions[0] = new Session(job, Parts[0], null));
        }

        _gate.SignalAndWait();
        if (_error is { } error)
        {
            Dispose();
            throw error;
        }
    }

    /// <summary>What each does, in the order of the laps.</summary>
    public Part[] Parts { get; }

    /// <summary>The session for resets, read-back and inspection between iterations.</summary>
    public Session First => _sessions[0]!;

    /// <summary>The sessions, in the order of the laps.</summary>
    public IEnumerable<Session> Sessions => _sessions.Select(session => session!);

    /// <summary>What the process had used when all left the start line for the last time.</summary>
    public Usage UsageAtStart { get; private set; }

    /// <returns>One lap per part.</returns>
    /// <exception cref="StatementException">A statement failed.</exception>
    /// <exception cref="MeasurementException">The signal to start did not come.</exception>
    public Lap[] Iterate()
    {
        First.Reset();
        _gate.SignalAndWait();
        if (_mainWorks)
        {
            Perform(0);
        }

        _gate.SignalAndWait();
        return _error is null ? [.. _laps] : throw _error;
    }

    public void Dispose()
    {
        _stop = true;
        _gate.SignalAndWait();
        _threads.ForEach(thread => thread.Join());
        foreach (var session in _sessions)
        {
            session?.Dispose();
        }

        _gate.Dispose();
        _startLine.Dispose();
    }

    private void StartThreads(Job job, int first, Action<Thread> start)
    {
        for (var index = first; index < Parts.Length; index++)
        {
            var own = index;
            var thread = new Thread(() => Work(job, own)) { IsBackground = true, Name = $"part {own}" };
            try
            {
                start(thread);
                _threads.Add(thread);
            }
            catch (Exception e) when (e is OutOfMemoryException or ThreadStartException)
            {
                var wanted = Parts.Length - first;
                _error = new MeasurementException(
                    $"the system allows {_threads.Count} of the {wanted} threads that the workers need ({e.Message}); ask for fewer workers");
                _gate.RemoveParticipants(wanted - _threads.Count);
                return;
            }
        }
    }

    private void Work(Job job, int index)
    {
        Guard(() => _sessions[index] = new Session(job, Parts[index], null));
        _gate.SignalAndWait();
        while (true)
        {
            _gate.SignalAndWait();
            if (_stop)
            {
                return;
            }

            Perform(index);
            _gate.SignalAndWait();
        }
    }

    private void Perform(int index)
    {
        var session = _sessions[index]!;
        var part = Parts[index];
        Microsoft.Data.Sqlite.SqliteTransaction? transaction = null;
        Guard(() => transaction = session.BeginRead());
        _startLine.SignalAndWait();
        if (_error is null)
        {
            Guard(() => _laps[index] = session.Run(part.Begin, part.End));
        }

        Guard(() => session.EndRead(transaction));
    }

    /// <summary>Run by the last to arrive, while the others wait.</summary>
    private void LeaveStartLine()
    {
        // After a failure nobody runs, so no other process is to wait for this one.
        if (_error is null)
        {
            Guard(() => _signal?.Await());
        }

        UsageAtStart = Usage.Now();
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
