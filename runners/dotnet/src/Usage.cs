namespace Sqlitmus;

/// <summary>What all threads of the process have used so far.</summary>
internal readonly record struct Usage(TimeSpan User, TimeSpan System, Switches? Switches)
{
    public static Usage Now()
    {
        var cpu = Environment.CpuUsage;
        return new Usage(cpu.UserTime, cpu.PrivilegedTime, Native.Switches());
    }

    public static Usage operator -(Usage after, Usage before) =>
        new(after.User - before.User, after.System - before.System, Subtract(after.Switches, before.Switches));

    public static Usage operator +(Usage one, Usage other) =>
        new(one.User + other.User, one.System + other.System, Add(one.Switches, other.Switches));

    private static Switches? Add(Switches? one, Switches? other) =>
        one is null || other is null
            ? null
            : new Switches(one.Voluntary + other.Voluntary, one.Involuntary + other.Involuntary);

    private static Switches? Subtract(Switches? after, Switches? before) =>
        after is null || before is null
            ? null
            : new Switches(after.Voluntary - before.Voluntary, after.Involuntary - before.Involuntary);
}
