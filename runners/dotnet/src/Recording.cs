using System.Diagnostics;
using Microsoft.Data.Sqlite;

namespace Sqlitmus;

/// <summary>
/// The time of each operation is recorded, each begins at its planned time, or SQLITE_BUSY is counted: whichever is asked.
/// </summary>
/// <param name="latencies">Null where times are not asked.</param>
/// <param name="pace">Null where each operation follows the last.</param>
internal sealed class RecordedLoop<TClock>(
    Work work, TClock clock, Histogram? latencies, Pace<TClock>? pace, bool tolerateBusy, Order? order = null) : ILoop
    where TClock : struct, IClock
{
    private const int PrimaryCode = 0xFF;

    public long Run(long begin, long end, long start, ref Tally tally)
    {
        var busy = 0L;
        var last = start;
        for (var operation = begin; operation < end; operation++)
        {
            if (order is not null && !order.At(operation).Mine)
            {
                continue;
            }

            var from = pace is null ? last : pace.Await(start, begin, operation);
            busy += Perform(operation, ref tally);
            last = clock.Now();
            latencies?.Add(Clock.Nanoseconds(last - from));
        }

        return busy;
    }

    /// <returns>1 if the operation ended with SQLITE_BUSY, which is tolerated; else 0.</returns>
    private int Perform(long operation, ref Tally tally)
    {
        if (!tolerateBusy)
        {
            work.Perform(operation, ref tally);
            return 0;
        }

        var before = tally;
        try
        {
            work.Perform(operation, ref tally);
            return 0;
        }
        catch (Exception e) when (IsBusy(e))
        {
            work.Recover();
            tally = before;
            return 1;
        }
    }

    private static bool IsBusy(Exception e) =>
        ((e as StatementException)?.Code ?? (e as SqliteException)?.SqliteExtendedErrorCode) is { } code
        && (code & PrimaryCode) == SQLitePCL.raw.SQLITE_BUSY;
}

/// <summary>Planned times: operation i of a part at start + (i + offset) / rate, or when its sequence says.</summary>
/// <param name="rate">Operations per second.</param>
/// <param name="offset">The worker's number over the number of workers.</param>
/// <param name="lateness">How late operations began for which the worker waited.</param>
/// <param name="order">Null where a rate says the times.</param>
internal sealed class Pace<TClock>(double rate, double offset, TClock clock, Histogram lateness, Order? order = null)
    where TClock : struct, IClock
{
    private readonly double _period = Stopwatch.Frequency / rate;

    /// <summary>Waits for the planned time of an operation of an iteration that begins with <paramref name="first"/>.</summary>
    /// <returns>The planned time.</returns>
    public long Await(long start, long first, long operation)
    {
        var planned = start + (order?.Planned(first, operation) ?? (long)((operation - first + offset) * _period));
        if (clock.Now() < planned)
        {
            clock.WaitUntil(planned);
            lateness.Add(Clock.Nanoseconds(clock.Now() - planned));
        }

        return planned;
    }
}
