using System.Text;

namespace Sqlitmus;

/// <summary>SQL with named parameters, and the names of a row's values.</summary>
internal sealed record NamedSql(string Text, string[] Names);

/// <summary>Microsoft.Data.Sqlite binds by name only, so the n-th <c>?</c> becomes <c>$pn</c>.</summary>
internal static class Placeholders
{
    /// <summary>Rewrites every <c>?</c> that stands outside literals, quoted names and comments.</summary>
    public static NamedSql Name(string sql)
    {
        var text = new StringBuilder(sql.Length + 8);
        var names = new List<string>();
        for (var position = 0; position < sql.Length;)
        {
            var end = EndOfToken(sql, position);
            if (sql[position] == '?')
            {
                names.Add($"$p{names.Count + 1}");
                text.Append(names[^1]);
            }
            else
            {
                text.Append(sql, position, end - position);
            }

            position = end;
        }

        return new NamedSql(text.ToString(), [.. names]);
    }

    private static int EndOfToken(string sql, int start)
    {
        string? terminator = (sql[start], start + 1 < sql.Length ? sql[start + 1] : '\0') switch
        {
            ('\'', _) => "'",
            ('"', _) => "\"",
            ('`', _) => "`",
            ('[', _) => "]",
            ('-', '-') => "\n",
            ('/', '*') => "*/",
            _ => null,
        };
        if (terminator is null)
        {
            return start + 1;
        }

        // A doubled quote ends one literal and begins the next: no case of its own. A comment opens with two characters.
        var opening = terminator.Length == 2 || terminator == "\n" ? 2 : 1;
        var found = sql.IndexOf(terminator, start + opening, StringComparison.Ordinal);
        return found < 0 ? sql.Length : found + terminator.Length;
    }
}
