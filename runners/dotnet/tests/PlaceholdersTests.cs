using Xunit;

namespace Sqlitmus.Tests;

public sealed class PlaceholdersTests
{
    [Theory]
    [InlineData("SELECT 1", "SELECT 1", 0)]
    [InlineData("SELECT ?, ?", "SELECT $p1, $p2", 2)]
    [InlineData("?", "$p1", 1)]
    [InlineData("SELECT '?', ?", "SELECT '?', $p1", 1)]
    [InlineData("SELECT 'it''s ?', ?", "SELECT 'it''s ?', $p1", 1)]
    [InlineData("SELECT \"a?\", `b?`, [c?], ?", "SELECT \"a?\", `b?`, [c?], $p1", 1)]
    [InlineData("SELECT ? -- why?\n, ?", "SELECT $p1 -- why?\n, $p2", 2)]
    [InlineData("SELECT /* ? */ ?", "SELECT /* ? */ $p1", 1)]
    [InlineData("SELECT /*/ ? */ ?", "SELECT /*/ ? */ $p1", 1)]
    [InlineData("SELECT ? - -1 / 2", "SELECT $p1 - -1 / 2", 1)]
    [InlineData("SELECT ?, 'open ?", "SELECT $p1, 'open ?", 1)]
    [InlineData("SELECT ? -- to the end ?", "SELECT $p1 -- to the end ?", 1)]
    public void Only_placeholders_are_renamed(string sql, string text, int count)
    {
        var named = Placeholders.Name(sql);
        Assert.Equal(text, named.Text);
        Assert.Equal(Enumerable.Range(1, count).Select(number => $"$p{number}"), named.Names);
    }
}
