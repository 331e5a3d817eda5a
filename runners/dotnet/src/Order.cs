using System.Diagnostics;

namespace Sqlitmus;

/// <summary>A place of a sequence: steps <c>First</c> … <c>End − 1</c>, whose group came <c>Turn</c> times before.</summary>
/// <param name="Mine">Whether this worker performs it.</param>
/// <param name="PlannedUs">Microseconds; 0 where operations follow each other.</param>
internal readonly record struct Place(int First, int End, long Turn, bool Mine, long PlannedUs);

/// <summary>Operations that differ: which steps each performs, in which turn, and when.</summary>
internal sealed class Order
{
    private readonly Place[] _places;

    /// <param name="worker">Null for one that performs the operations of all.</param>
    public Order(Sequence sequence, int? worker)
    {
        var ends = new int[sequence.Groups.Length];
        for (var group = 0; group < ends.Length; group++)
        {
            ends[group] = (group == 0 ? 0 : ends[group - 1]) + sequence.Groups[group];
        }

        var turns = new long[ends.Length];
        IsPlanned = sequence.PlannedUs.Length > 0;
        _places = [.. sequence.Order.Select((group, place) => new Place(
            ends[group] - sequence.Groups[group],
            ends[group],
            turns[group]++,
            worker is null || sequence.Workers.Length == 0 || sequence.Workers[place] == worker,
            IsPlanned ? sequence.PlannedUs[place] : 0))];
    }

    public bool IsPlanned { get; }

    public Place At(long operation) => _places[operation % _places.Length];

    /// <returns>How many of the operations <paramref name="begin"/> … <paramref name="end"/> − 1 this worker performs.</returns>
    public long Count(long begin, long end)
    {
        var count = 0L;
        for (var operation = begin; operation < end; operation++)
        {
            count += At(operation).Mine ? 1 : 0;
        }

        return count;
    }

    /// <returns>Ticks from when <paramref name="first"/> is planned to when <paramref name="operation"/> is.</returns>
    public long Planned(long first, long operation) =>
        (long)((At(operation).PlannedUs - At(first).PlannedUs) * (Stopwatch.Frequency / 1e6));
}
