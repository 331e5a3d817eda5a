using Microsoft.Data.Sqlite;

namespace Sqlitmus;

/// <summary>
/// One or more columns of a row as a value type. A row type is built of these for each job, and as the JIT compiles
/// generic code once per value type, it becomes the straight code that one would write for those columns.
/// </summary>
internal interface IFields
{
    /// <summary>The number of columns.</summary>
    static abstract int Width { get; }

    /// <summary>
    /// Reads the columns from <paramref name="ordinal"/> on with typed getters, which throw on a NULL that is not declared.
    /// </summary>
    void Read(SqliteDataReader reader, int ordinal);

    /// <summary>Takes the columns from <paramref name="ordinal"/> on out of what GetValues returned.</summary>
    void Take(object[] values, int ordinal);

    /// <returns>The checksum after <paramref name="h"/> and these columns.</returns>
    uint Fold(uint h);

    void Write(Digest digest);
}

internal struct IntegerField : IFields
{
    private long _value;

    public static int Width => 1;

    public void Read(SqliteDataReader reader, int ordinal) => _value = reader.GetInt64(ordinal);

    public void Take(object[] values, int ordinal) => _value = (long)values[ordinal];

    public readonly uint Fold(uint h) => h * 31 + Checksum.Of(_value);

    public readonly void Write(Digest digest) => digest.Integer(_value);
}

internal struct RealField : IFields
{
    private double _value;

    public static int Width => 1;

    public void Read(SqliteDataReader reader, int ordinal) => _value = reader.GetDouble(ordinal);

    public void Take(object[] values, int ordinal) => _value = (double)values[ordinal];

    public readonly uint Fold(uint h) => h * 31 + Checksum.Of(_value);

    public readonly void Write(Digest digest) => digest.Real(_value);
}

internal struct TextField : IFields
{
    private string _value;

    public static int Width => 1;

    public void Read(SqliteDataReader reader, int ordinal) => _value = reader.GetString(ordinal);

    public void Take(object[] values, int ordinal) => _value = (string)values[ordinal];

    public readonly uint Fold(uint h) => h * 31 + Checksum.Of(_value);

    public readonly void Write(Digest digest) => digest.Text(_value);
}

internal struct BlobField : IFields
{
    private byte[] _value;

    public static int Width => 1;

    public void Read(SqliteDataReader reader, int ordinal) => _value = reader.GetFieldValue<byte[]>(ordinal);

    public void Take(object[] values, int ordinal) => _value = (byte[])values[ordinal];

    public readonly uint Fold(uint h) => h * 31 + Checksum.Of(_value);

    public readonly void Write(Digest digest) => digest.Blob(_value);
}

/// <summary>A column that can be NULL, which the driver has to be asked first.</summary>
internal struct NullableField<TField> : IFields
    where TField : struct, IFields
{
    private TField _field;
    private bool _isNull;

    public static int Width => 1;

    public void Read(SqliteDataReader reader, int ordinal)
    {
        _isNull = reader.IsDBNull(ordinal);
        if (!_isNull)
        {
            _field.Read(reader, ordinal);
        }
    }

    public void Take(object[] values, int ordinal)
    {
        _isNull = values[ordinal] is DBNull;
        if (!_isNull)
        {
            _field.Take(values, ordinal);
        }
    }

    public readonly uint Fold(uint h) => _isNull ? h * 31 + Checksum.Null : _field.Fold(h);

    public readonly void Write(Digest digest)
    {
        if (_isNull)
        {
            digest.Null();
        }
        else
        {
            _field.Write(digest);
        }
    }
}

/// <summary>Two groups of columns side by side; pairs of pairs make a row of any width.</summary>
internal struct Pair<TLeft, TRight> : IFields
    where TLeft : struct, IFields
    where TRight : struct, IFields
{
    private TLeft _left;
    private TRight _right;

    public static int Width => TLeft.Width + TRight.Width;

    public void Read(SqliteDataReader reader, int ordinal)
    {
        _left.Read(reader, ordinal);
        _right.Read(reader, ordinal + TLeft.Width);
    }

    public void Take(object[] values, int ordinal)
    {
        _left.Take(values, ordinal);
        _right.Take(values, ordinal + TLeft.Width);
    }

    public readonly uint Fold(uint h) => _right.Fold(_left.Fold(h));

    public readonly void Write(Digest digest)
    {
        _left.Write(digest);
        _right.Write(digest);
    }
}

/// <summary>Chooses the value type for the columns of a job.</summary>
internal static class FieldTypes
{
    /// <returns>A type that implements <see cref="IFields"/>; halves keep the nesting shallow enough to be inlined.</returns>
    public static Type Of(ReadOnlySpan<Column> columns)
    {
        if (columns.Length == 1)
        {
            var field = columns[0].Type switch
            {
                ColumnType.Integer => typeof(IntegerField),
                ColumnType.Real => typeof(RealField),
                ColumnType.Text => typeof(TextField),
                _ => typeof(BlobField),
            };
            return columns[0].Nullable ? typeof(NullableField<>).MakeGenericType(field) : field;
        }

        var half = columns.Length / 2;
        return typeof(Pair<,>).MakeGenericType(Of(columns[..half]), Of(columns[half..]));
    }
}
