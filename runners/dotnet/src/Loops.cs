using System.Diagnostics;
using Microsoft.Data.Sqlite;

namespace Sqlitmus;

/// <summary>How a thread goes through its operations; chosen before the clock.</summary>
internal interface ILoop
{
    /// <param name="start">When the iteration began, in ticks of <see cref="Stopwatch"/>.</param>
    /// <returns>How many operations ended with SQLITE_BUSY.</returns>
    /// <exception cref="StatementException">A statement failed.</exception>
    /// <exception cref="SqliteException">Something around the statements failed.</exception>
    long Run(long begin, long end, long start, ref Tally tally);
}

/// <summary>One operation of this worker after the other.</summary>
internal sealed class OrderedLoop(Work work, Order order) : ILoop
{
    public long Run(long begin, long end, long start, ref Tally tally)
    {
        for (var operation = begin; operation < end; operation++)
        {
            if (order.At(operation).Mine)
            {
                work.Perform(operation, ref tally);
            }
        }

        return 0;
    }
}

/// <summary>One operation after the other.</summary>
internal sealed class PlainLoop(Work work) : ILoop
{
    public long Run(long begin, long end, long start, ref Tally tally)
    {
        for (var operation = begin; operation < end; operation++)
        {
            work.Perform(operation, ref tally);
        }

        return 0;
    }
}
