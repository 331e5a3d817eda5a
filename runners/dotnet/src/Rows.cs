using Microsoft.Data.Sqlite;

namespace Sqlitmus;

/// <summary>A row in one of the contract's shapes.</summary>
internal interface IRow
{
    /// <summary>Makes the row of what the reader stands on.</summary>
    void Read(SqliteDataReader reader);

    /// <returns>The checksum after <paramref name="h"/> and every column of this row.</returns>
    uint Fold(uint h);

    void Write(Digest digest);
}

/// <summary>Shape <c>object</c>: an owned record on the heap, filled by typed getters.</summary>
internal struct ObjectRow<TFields> : IRow where TFields : struct, IFields
{
    private Record _record;

    public void Read(SqliteDataReader reader)
    {
        var record = new Record();
        record.Fields.Read(reader, 0);
        _record = record;
    }

    public readonly uint Fold(uint h) => _record.Fields.Fold(h);

    public readonly void Write(Digest digest) => _record.Fields.Write(digest);

    private sealed class Record
    {
        public TFields Fields;
    }
}

/// <summary>Shape <c>array</c>: <c>object[]</c> with boxed values, as GetValues fills it.</summary>
internal struct ArrayRow<TFields> : IRow where TFields : struct, IFields
{
    private object[] _values;

    public void Read(SqliteDataReader reader)
    {
        var values = new object[TFields.Width];
        reader.GetValues(values);
        _values = values;
    }

    public readonly uint Fold(uint h)
    {
        TFields fields = default;
        fields.Take(_values, 0);
        return fields.Fold(h);
    }

    public readonly void Write(Digest digest)
    {
        TFields fields = default;
        fields.Take(_values, 0);
        fields.Write(digest);
    }
}

/// <summary>Shape <c>typed</c>: typed getters into locals; only text and blobs have to be made.</summary>
internal struct TypedRow<TFields> : IRow where TFields : struct, IFields
{
    private TFields _fields;

    public void Read(SqliteDataReader reader) => _fields.Read(reader, 0);

    public readonly uint Fold(uint h) => _fields.Fold(h);

    public readonly void Write(Digest digest) => _fields.Write(digest);
}

/// <summary>Chooses the row type for a step.</summary>
internal static class RowTypes
{
    /// <returns>A type that implements <see cref="IRow"/>.</returns>
    public static Type Of(Shape shape, Column[] columns)
    {
        var generic = shape switch
        {
            Shape.Object => typeof(ObjectRow<>),
            Shape.Array => typeof(ArrayRow<>),
            _ => typeof(TypedRow<>),
        };
        return generic.MakeGenericType(FieldTypes.Of(columns));
    }
}
