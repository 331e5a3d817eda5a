namespace Sqlitmus;

/// <summary>What the system counts of all threads; Windows tells none of it in two numbers each.</summary>
internal sealed record Events(Switches Switches, PageFaults PageFaults)
{
    public static Events operator -(Events after, Events before) => after.Zip(before, (one, other) => one - other);

    public static Events operator +(Events one, Events other) => one.Zip(other, (own, more) => own + more);

    private Events Zip(Events other, Func<long, long, long> of) => new(
        new Switches(
            of(Switches.Voluntary, other.Switches.Voluntary), of(Switches.Involuntary, other.Switches.Involuntary)),
        new PageFaults(of(PageFaults.Minor, other.PageFaults.Minor), of(PageFaults.Major, other.PageFaults.Major)));
}

/// <summary>What all threads of the process have used so far.</summary>
/// <param name="Cpu">User and system time.</param>
/// <param name="Events">Null where the system does not tell.</param>
/// <param name="Collections">Of any generation: each collects the youngest, too.</param>
internal readonly record struct Usage(TimeSpan Cpu, Events? Events, long Collections)
{
    public static Usage Now() => new(Environment.CpuUsage.TotalTime, Native.Events(), GC.CollectionCount(0));

    public static Usage operator -(Usage after, Usage before) => new(
        after.Cpu - before.Cpu,
        after.Events is { } now && before.Events is { } then ? now - then : null,
        after.Collections - before.Collections);

    public static Usage operator +(Usage one, Usage other) => new(
        one.Cpu + other.Cpu,
        one.Events is { } own && other.Events is { } more ? own + more : null,
        one.Collections + other.Collections);
}
