namespace Sqlitmus;

/// <summary>
/// Where the threads of a job meet: at the gate before and after each iteration, and at the start line until everyone has
/// begun its read transaction; only then do the clocks run, and when all have finished, the time of the process is taken.
/// </summary>
internal sealed class Meeting : IDisposable
{
    private readonly Barrier _gate;
    private readonly Barrier _startLine;
    private readonly Barrier _finishLine;
    private readonly ProcessBarrier? _barrier;
    private volatile Exception? _error;

    /// <param name="members">Those who perform the iterations.</param>
    /// <param name="threads">How many of them have a thread beside the main thread.</param>
    /// <param name="barrier">What to await at the start line; null where no other process begins at the same time.</param>
    public Meeting(int members, int threads, ProcessBarrier? barrier)
    {
        _gate = new Barrier(threads + 1);
        _startLine = new Barrier(members, _ => Release());
        _finishLine = new Barrier(members, _ => UsageAtEnd = Usage.Now());
        _barrier = barrier;
    }

    /// <summary>What went wrong first in any thread.</summary>
    public Exception? Error => _error;

    /// <summary>What the process had used when all left the start line for the last time.</summary>
    public Usage UsageAtStart { get; private set; }

    /// <summary>What it had used when the last came to the finish line.</summary>
    public Usage UsageAtEnd { get; private set; }

    public void Gate() => _gate.SignalAndWait();

    public void StartLine() => _startLine.SignalAndWait();

    public void FinishLine() => _finishLine.SignalAndWait();

    /// <summary>Waits no more for threads that could not be started.</summary>
    public void Miss(int threads, Exception error)
    {
        _error = error;
        _gate.RemoveParticipants(threads);
    }

    /// <summary>Keeps a failed worker coming to the barriers, so that nobody waits for it for ever.</summary>
    public void Guard(Action action)
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

    public void Dispose()
    {
        _gate.Dispose();
        _startLine.Dispose();
        _finishLine.Dispose();
    }

    /// <summary>Run by the last to arrive, while the others wait.</summary>
    private void Release()
    {
        // After a failure nobody runs, so no other process is to wait for this one.
        if (_error is null)
        {
            Guard(() => _barrier?.Await());
        }

        UsageAtStart = Usage.Now();
    }
}
