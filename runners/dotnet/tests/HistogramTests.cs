using Xunit;

namespace Sqlitmus.Tests;

public sealed class HistogramTests
{
    [Theory]
    [InlineData(0, 0)]
    [InlineData(1, 1)]
    [InlineData(255, 255)]
    // 256 … 511: two to a bucket, from 128 + 128 on.
    [InlineData(256, 256)]
    [InlineData(257, 256)]
    [InlineData(258, 257)]
    [InlineData(511, 383)]
    [InlineData(512, 384)]
    // 2¹⁹ ≤ 10⁶ < 2²⁰: e = 12, 12·128 + ⌊10⁶ / 4096⌋.
    [InlineData(1_000_000, 1536 + 244)]
    // e = 62 − 7.
    [InlineData(long.MaxValue, (55 * 128) + 255)]
    public void Below_256_each_has_a_bucket_and_each_power_of_two_above_has_128(long nanoseconds, int bucket) =>
        Assert.Equal(bucket, Histogram.BucketOf(nanoseconds));

    [Fact]
    public void What_was_added_is_counted_until_it_is_cleared()
    {
        var histogram = new Histogram();
        foreach (var nanoseconds in new[] { 300L, 7, 301, 7, 7 })
        {
            histogram.Add(nanoseconds);
        }

        Assert.Equal([(7, 3L), (278, 2L)], histogram.Filled());
        histogram.Clear();
        Assert.Empty(histogram.Filled());
    }
}
