namespace Sqlitmus;

/// <summary>
/// Those who perform a measured iteration, with a connection each: a single worker on the main thread unless the job
/// says otherwise, several workers and the writer on threads. Between iterations and before the clocks they meet.
/// </summary>
internal sealed class Workers : IDisposable
{
    // A Barrier takes 32767 participants.
    private const int MostThreads = short.MaxValue - 1;

    private readonly Session?[] _sessions;
    private readonly Job _job;
    private readonly Lap[] _laps;
    private readonly bool _mainWorks;
    private readonly List<Thread> _threads = [];
    private readonly Meeting _meeting;
    private volatile bool _stop;
    private long _iterations;

    /// <param name="barrier">What to await before the clocks; null where no other process begins at the same time.</param>
    /// <param name="start">Starts a thread; null for the usual way.</param>
    /// <exception cref="MeasurementException">The system does not allow so many threads.</exception>
    /// <exception cref="StatementException">A connection cannot be set up, or a statement not be prepared.</exception>
    public Workers(Job job, ProcessBarrier? barrier, Action<Thread>? start = null)
    {
        _job = job;
        Parts = Sqlitmus.Parts.Of(job);
        _sessions = new Session?[Parts.Length];
        _laps = new Lap[Parts.Length];
        _mainWorks = job.Measure is { Workers: 1, ThreadOfItsOwn: false };
        var first = _mainWorks ? 1 : 0;
        if (Parts.Length - first > MostThreads)
        {
            throw new MeasurementException($"{Parts.Length} workers are more than the {MostThreads} that this runner can hold");
        }

        _meeting = new Meeting(Parts.Length, Parts.Length - first, barrier);
        StartThreads(first, start ?? (thread => thread.Start()));
        if (_mainWorks)
        {
            _meeting.Guard(() => _sessions[0] = new Session(_job, Parts[0], null));
        }

        _meeting.Gate();
        if (_meeting.Error is { } error)
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
    public Usage UsageAtStart => _meeting.UsageAtStart;

    /// <summary>What it had used when the last of them came to the finish line.</summary>
    public Usage UsageAtEnd => _meeting.UsageAtEnd;

    /// <returns>One lap per part.</returns>
    /// <exception cref="StatementException">A statement failed.</exception>
    /// <exception cref="MeasurementException">The barrier across processes did not open.</exception>
    public Lap[] Iterate()
    {
        First.Reset(_job.ResetBefore(_iterations * _job.Measure.OperationsPerIteration));
        _meeting.Gate();
        if (_mainWorks)
        {
            Perform(0);
        }

        _meeting.Gate();
        _iterations++;
        return _meeting.Error is { } error ? throw error : [.. _laps];
    }

    public void Dispose()
    {
        _stop = true;
        _meeting.Gate();
        _threads.ForEach(thread => thread.Join());
        foreach (var session in _sessions)
        {
            session?.Dispose();
        }

        _meeting.Dispose();
    }

    private void StartThreads(int first, Action<Thread> start)
    {
        for (var index = first; index < Parts.Length; index++)
        {
            var own = index;
            var thread = new Thread(() => Work(own)) { IsBackground = true, Name = $"part {own}" };
            try
            {
                start(thread);
                _threads.Add(thread);
            }
            catch (Exception e) when (e is OutOfMemoryException or ThreadStartException)
            {
                var wanted = Parts.Length - first;
                var error = new MeasurementException(
                    $"the system allows {_threads.Count} of the {wanted} threads that the workers need ({e.Message}); ask for fewer workers");
                _meeting.Miss(wanted - _threads.Count, error);
                return;
            }
        }
    }

    private void Work(int index)
    {
        _meeting.Guard(() => _sessions[index] = new Session(_job, Parts[index], null));
        _meeting.Gate();
        while (true)
        {
            _meeting.Gate();
            if (_stop)
            {
                return;
            }

            Perform(index);
            _meeting.Gate();
        }
    }

    private void Perform(int index)
    {
        var session = _sessions[index]!;
        var part = Parts[index];
        Microsoft.Data.Sqlite.SqliteTransaction? transaction = null;
        _meeting.Guard(() => transaction = session.BeginRead());
        _meeting.StartLine();
        if (_meeting.Error is null)
        {
            var done = _iterations * part.Stride;
            _meeting.Guard(() => _laps[index] = session.Run(done + part.Begin, done + part.End));
        }

        _meeting.FinishLine();
        _meeting.Guard(() => session.EndRead(transaction));
    }
}
