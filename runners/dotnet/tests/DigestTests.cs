using System.Security.Cryptography;
using Xunit;

namespace Sqlitmus.Tests;

public sealed class DigestTests
{
    [Fact]
    public void Values_are_tag_length_bytes_and_executions_end_with_a_count()
    {
        using var digest = new Digest();
        digest.Integer(-12);
        digest.Real(1.5);
        digest.Text("ä");
        digest.Blob([0, 255]);
        digest.Null();
        digest.End(258);
        byte[] bytes =
        [
            (byte)'i', 3, 0, 0, 0, (byte)'-', (byte)'1', (byte)'2',
            (byte)'r', 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xF8, 0x3F,
            (byte)'t', 2, 0, 0, 0, 0xC3, 0xA4,
            (byte)'b', 2, 0, 0, 0, 0, 255,
            (byte)'n', 0, 0, 0, 0,
            (byte)'E', 2, 1, 0, 0,
        ];
        Assert.Equal(Convert.ToHexStringLower(SHA256.HashData(bytes)), digest.Finish());
    }
}
