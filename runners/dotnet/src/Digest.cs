using System.Buffers.Binary;
using System.Globalization;
using System.Security.Cryptography;
using System.Text;

namespace Sqlitmus;

/// <summary>
/// SHA-256 of the canonical rows: per value a tag of the declared type, a 32-bit little-endian length and the bytes;
/// after each execution <c>E</c> and a 32-bit count.
/// </summary>
internal sealed class Digest : IDisposable
{
    private readonly IncrementalHash _hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);

    public void Null() => Append('n', []);

    public void Integer(long value) => Append('i', Encoding.ASCII.GetBytes(value.ToString(CultureInfo.InvariantCulture)));

    public void Real(double value)
    {
        Span<byte> bytes = stackalloc byte[8];
        BinaryPrimitives.WriteDoubleLittleEndian(bytes, value);
        Append('r', bytes);
    }

    public void Text(string value) => Append('t', Encoding.UTF8.GetBytes(value));

    public void Blob(byte[] value) => Append('b', value);

    /// <summary>Ends an execution that returned or changed <paramref name="count"/> rows.</summary>
    public void End(long count) => Head('E', checked((int)count));

    public string Finish() => Convert.ToHexStringLower(_hash.GetHashAndReset());

    public void Dispose() => _hash.Dispose();

    private void Append(char tag, ReadOnlySpan<byte> bytes)
    {
        Head(tag, bytes.Length);
        _hash.AppendData(bytes);
    }

    private void Head(char tag, int number)
    {
        Span<byte> head = stackalloc byte[5];
        head[0] = (byte)tag;
        BinaryPrimitives.WriteInt32LittleEndian(head[1..], number);
        _hash.AppendData(head);
    }
}
