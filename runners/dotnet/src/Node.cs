using System.Text.Json;

namespace Sqlitmus;

/// <summary>
/// A value of the job with its JSON path. Every method says what it expected where it meets something else. Read by
/// hand because binding to types makes the JIT compile a thousand methods, 0.1 s, before the first job is read.
/// </summary>
/// <param name="Element">Undefined where an optional member is absent.</param>
internal readonly record struct Node(JsonElement Element, string Path)
{
    /// <summary>False where the member is absent or null.</summary>
    public bool Exists => Element.ValueKind is not (JsonValueKind.Undefined or JsonValueKind.Null);

    /// <exception cref="JobException">This is not an object, or it has a key that is not among <paramref name="keys"/>.</exception>
    public Node Object(params ReadOnlySpan<string> keys)
    {
        if (Element.ValueKind != JsonValueKind.Object)
        {
            throw Expected("an object");
        }

        foreach (var member in Element.EnumerateObject())
        {
            if (!keys.Contains(member.Name))
            {
                throw new JobException($"{Path}.{member.Name}: unknown key; expected one of {string.Join(", ", keys)}", $"{Path}.{member.Name}");
            }
        }

        return this;
    }

    /// <summary>A member that may be absent.</summary>
    public Node Optional(string key) =>
        new(Element.TryGetProperty(key, out var value) ? value : default, $"{Path}.{key}");

    /// <exception cref="JobException">The member is absent or null.</exception>
    public Node Required(string key) =>
        Optional(key) is { Exists: true } node ? node : throw new JobException($"{Path}: expected the missing key {key}", Path);

    public string Text() => Element.ValueKind == JsonValueKind.String ? Element.GetString()! : throw Expected("a string");

    public long Integer(long least) =>
        Element.ValueKind == JsonValueKind.Number && Element.TryGetInt64(out var value) && value >= least
            ? value
            : throw Expected($"an integer of {least} or more");

    public long Integer(long least, long absent) => IsAbsent ? absent : Integer(least);

    /// <summary>An integer of 1 or more and of 32 bits.</summary>
    public int Count() =>
        Integer(1) is var value and <= int.MaxValue ? (int)value : throw Expected("an integer of 32 bits");

    public int Count(int absent) => IsAbsent ? absent : Count();

    public double Number() => Element.ValueKind == JsonValueKind.Number ? Element.GetDouble() : throw Expected("a number");

    public bool Flag(bool absent) => Element.ValueKind switch
    {
        JsonValueKind.Undefined => absent,
        JsonValueKind.True => true,
        JsonValueKind.False => false,
        _ => throw Expected("true or false"),
    };

    /// <returns>The index among <paramref name="words"/>; 0 where absent.</returns>
    public int Word(params ReadOnlySpan<string> words)
    {
        var index = IsAbsent ? 0 : Element.ValueKind == JsonValueKind.String ? words.IndexOf(Element.GetString()!) : -1;
        return index >= 0 ? index : throw Expected($"one of {string.Join(", ", words)}");
    }

    /// <returns>The items of an array; none where absent.</returns>
    public List<Node> Items()
    {
        var items = new List<Node>();
        if (IsAbsent)
        {
            return items;
        }

        if (Element.ValueKind != JsonValueKind.Array)
        {
            throw Expected("an array");
        }

        foreach (var item in Element.EnumerateArray())
        {
            items.Add(new Node(item, $"{Path}[{items.Count}]"));
        }

        return items;
    }

    /// <returns>Keys and values of an object of any keys; none where absent.</returns>
    public List<KeyValuePair<string, Node>> Members()
    {
        var members = new List<KeyValuePair<string, Node>>();
        if (IsAbsent)
        {
            return members;
        }

        if (Element.ValueKind != JsonValueKind.Object)
        {
            throw Expected("an object");
        }

        foreach (var member in Element.EnumerateObject())
        {
            members.Add(new(member.Name, new Node(member.Value, $"{Path}.{member.Name}")));
        }

        return members;
    }

    public JobException Expected(string expectation)
    {
        const int Excerpt = 40;
        var text = Element.GetRawText();
        return new JobException($"{Path}: expected {expectation}, got {(text.Length > Excerpt ? $"{text[..Excerpt]}…" : text)}", Path);
    }

    private bool IsAbsent => Element.ValueKind == JsonValueKind.Undefined;
}

/// <summary>The job cannot be read; the message has the JSON path and what was expected.</summary>
/// <param name="path">The place in the job, or null where the file itself is at fault.</param>
internal sealed class JobException(string message, string? path) : Exception(message)
{
    public string? Path { get; } = path;
}
