using Xunit;

namespace Sqlitmus.Tests;

public sealed class ChecksumTests
{
    [Theory]
    [InlineData(0, 0u)]
    [InlineData(-1, 0xFFFFFFFFu)]
    [InlineData(0x1_0000_0002, 2u)]
    [InlineData(long.MinValue, 0u)]
    [InlineData(long.MaxValue, 0xFFFFFFFFu)]
    public void Integer_gives_its_low_32_bits(long value, uint expected) =>
        Assert.Equal(expected, Checksum.Of(value));

    [Theory]
    [InlineData(0.0, 0u)]
    [InlineData(2.9, 2u)]
    [InlineData(-1.75, 0xFFFFFFFFu)]
    [InlineData(4294967296.5, 0u)]
    [InlineData(-4294967297.5, 0xFFFFFFFFu)]
    [InlineData(1e-300, 0u)]
    // 2⁶³ + 2³³·… : 1e19 = 0x8AC7230489E80000
    [InlineData(1e19, 0x89E80000u)]
    [InlineData(-1e19, 0x76180000u)]
    [InlineData(double.PositiveInfinity, 0u)]
    public void Real_is_truncated_modulo_2_32(double value, uint expected) =>
        Assert.Equal(expected, Checksum.Of(value));

    [Theory]
    [InlineData("", 0u)]
    [InlineData("a", (31u * 97) + 97)]
    [InlineData("xäy", (31u * 120) + 121)]
    public void Text_gives_first_and_last_code_unit(string value, uint expected) =>
        Assert.Equal(expected, Checksum.Of(value));

    [Theory]
    [InlineData(new byte[0], 0u)]
    [InlineData(new byte[] { 255, 1, 254 }, 3u + (31 * 255) + 254)]
    public void Blob_gives_length_first_and_last_byte(byte[] value, uint expected) =>
        Assert.Equal(expected, Checksum.Of(value));

    [Fact]
    public void Shares_add_modulo_2_32()
    {
        var sum = new Tally { Checksum = 0xFFFFFFFF, Rows = 1, Affected = 2 };
        sum.Add(new Tally { Checksum = 3, Rows = 4, Affected = 5 });
        Assert.Equal(new Tally { Checksum = 2, Rows = 5, Affected = 7 }, sum);
    }
}
