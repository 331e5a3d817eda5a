using System.Numerics;

namespace Sqlitmus;

/// <summary>
/// Counts of nanoseconds in buckets of 1/128 or less of their value: bucket e·128 + (v >> e), e = max(0, ⌊log₂ v⌋ − 7).
/// </summary>
internal sealed class Histogram
{
    private const int Bits = 7;

    private readonly long[] _counts = new long[BucketOf(long.MaxValue) + 1];

    /// <returns>The bucket of <paramref name="nanoseconds"/>, 0 or more.</returns>
    public static int BucketOf(long nanoseconds)
    {
        var e = Math.Max(0, BitOperations.Log2((ulong)nanoseconds) - Bits);
        return (e << Bits) + (int)(nanoseconds >> e);
    }

    public void Add(long nanoseconds) => _counts[BucketOf(nanoseconds)]++;

    public void Clear() => Array.Clear(_counts);

    /// <returns>The buckets that hold something, in ascending order, and how much.</returns>
    public (int Bucket, long Count)[] Filled() =>
        [.. _counts.Index().Where(pair => pair.Item > 0)];
}
