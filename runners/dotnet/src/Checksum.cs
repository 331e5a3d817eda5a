namespace Sqlitmus;

/// <summary>What a value adds to the checksum: <c>h = h·31 + x</c>, modulo 2³².</summary>
internal static class Checksum
{
    public const uint Null = 0x9E3779B9;

    public static uint Of(long value) => unchecked((uint)value);

    /// <summary>Truncated toward zero, modulo 2³². NaN cannot come out of SQLite.</summary>
    public static uint Of(double value)
    {
        // The conversion saturates; beyond 2⁶³ the low 32 bits need exact arithmetic.
        return Math.Abs(value) < 9.2e18 ? unchecked((uint)(long)value) : OfHuge(value);
    }

    public static uint Of(string value) => value.Length == 0 ? 0 : 31u * value[0] + value[^1];

    public static uint Of(byte[] value) =>
        value.Length == 0 ? 0 : unchecked((uint)value.Length + 31u * value[0] + value[^1]);

    private static uint OfHuge(double value)
    {
        if (!double.IsFinite(value))
        {
            return 0;
        }

        var rest = (long)Math.IEEERemainder(value, 4294967296.0);
        return unchecked((uint)rest);
    }
}

/// <summary>What operations returned.</summary>
internal record struct Tally
{
    /// <summary>The checksum of the operation that goes on.</summary>
    public uint H;

    /// <summary>The sum of those of the operations that have ended.</summary>
    public uint Checksum;
    public long Rows;
    public long Affected;

    public static Tally Sum(IEnumerable<Tally> tallies)
    {
        Tally sum = default;
        foreach (var tally in tallies)
        {
            sum.Add(tally);
        }

        return sum;
    }

    public void EndOperation()
    {
        Checksum += H;
        H = 0;
    }

    public void Add(in Tally other)
    {
        unchecked
        {
            Checksum += other.Checksum;
        }

        Rows += other.Rows;
        Affected += other.Affected;
    }
}
