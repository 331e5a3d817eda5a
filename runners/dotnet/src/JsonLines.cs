using System.Text.Json;

namespace Sqlitmus;

/// <summary>Finds the line of a JSON path: parsed JSON does not keep it, and only an error needs it.</summary>
internal static class JsonLines
{
    /// <returns>The line, counted from 1, on which the value at <paramref name="path"/> begins; 1 if there is none.</returns>
    public static int Of(ReadOnlySpan<byte> text, string path)
    {
        var reader = new Utf8JsonReader(text);
        // Per open container: its path, and the index of the next item or -1 in an object.
        var containers = new Stack<(string Path, int Next)>();
        var current = "$";
        while (reader.Read())
        {
            if (reader.TokenType is JsonTokenType.EndObject or JsonTokenType.EndArray)
            {
                containers.Pop();
                continue;
            }

            if (reader.TokenType == JsonTokenType.PropertyName)
            {
                current = $"{containers.Peek().Path}.{reader.GetString()}";
                continue;
            }

            if (containers.TryPeek(out var parent) && parent.Next >= 0)
            {
                containers.Pop();
                containers.Push((parent.Path, parent.Next + 1));
                current = $"{parent.Path}[{parent.Next}]";
            }

            if (current == path)
            {
                return text[..(int)reader.TokenStartIndex].Count((byte)'\n') + 1;
            }

            if (reader.TokenType is JsonTokenType.StartObject or JsonTokenType.StartArray)
            {
                containers.Push((current, reader.TokenType == JsonTokenType.StartArray ? 0 : -1));
            }
        }

        return 1;
    }
}
