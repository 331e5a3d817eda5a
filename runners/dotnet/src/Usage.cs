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
/// <param name="Events">Null where the system does not tell.</param>
internal readonly record struct Usage(TimeSpan User, TimeSpan System, Events? Events)
{
    public static Usage Now()
    {
        var cpu = Environment.CpuUsage;
        return new Usage(cpu.UserTime, cpu.PrivilegedTime, Native.Events());
    }

    public static Usage operator -(Usage after, Usage before) => new(
        after.User - before.User,
        after.System - before.System,
        after.Events is { } now && before.Events is { } then ? now - then : null);

    public static Usage operator +(Usage one, Usage other) => new(
        one.User + other.User,
        one.System + other.System,
        one.Events is { } own && other.Events is { } more ? own + more : null);
}
