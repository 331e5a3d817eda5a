using Xunit;

namespace Sqlitmus.Tests;

public sealed class ConnectionTests : IDisposable
{
    private const string GetInteger = """
        {"operation": "get", "columns": [{"name": "x", "type": "integer"}],
        """;

    private readonly JobRun _run = new();

    public void Dispose() => _run.Dispose();

    [Theory]
    [InlineData("measure", "")]
    [InlineData("verify", "")]
    [InlineData("measure", ", \"uri\": {\"cache\": \"private\"}")]
    public void In_memory_each_connection_has_a_database_that_setup_fills(string mode, string more)
    {
        var result = _run.Perform(
            $$"""
            "connection": {"setup": ["CREATE TABLE m(x)", "INSERT INTO m VALUES (7)"]},
            "steps": [{{GetInteger}} "sql": "SELECT x FROM m"}],
            "writer": {"steps": [{"operation": "run", "sql": "DELETE FROM m"}], "operations": 1},
            "measure": {"operations_per_iteration": 2, "workers": 2}
            """,
            mode,
            more,
            ":memory:");
        Assert.Null(result.Error?.Message);
        Assert.Equal(("ok", 2L, 14u), (result.Status, result.Rows, result.Checksum));
        Assert.False(File.Exists(":memory:"));
    }

    [Fact]
    public void Setup_comes_after_the_pragmas_and_not_to_the_second_connection_of_open()
    {
        // A second connection would have the table, too, and not fail.
        var result = _run.Perform("""
            "connection": {"pragmas": [["recursive_triggers", 1]],
                           "setup": ["CREATE TEMP TABLE s AS SELECT recursive_triggers AS x FROM pragma_recursive_triggers"]},
            "steps": [{"operation": "get", "sql": "SELECT x FROM s", "columns": [{"name": "x", "type": "integer"}]},
                      {"operation": "open", "sql": "SELECT count(*) FROM sqlite_temp_master",
                       "columns": [{"name": "x", "type": "integer"}]}],
            "measure": {"operations_per_iteration": 1}
            """);
        Assert.Null(result.Error?.Message);
        Assert.Equal((1u * 31) + 0, result.Checksum);
    }

    [Fact]
    public void A_setup_that_fails_is_named()
    {
        var result = _run.Perform("""
            "connection": {"setup": ["CREATE TABLE t(x)"]}, "measure": {"operations_per_iteration": 0, "workers": 2}
            """);
        Assert.Equal(("failed", "CREATE TABLE t(x)"), (result.Status, result.Error!.Sql));
    }

    [Theory]
    [InlineData("shared-cache", 1u)]
    [InlineData("private-cache", 0u)]
    public void With_a_shared_cache_another_connection_can_see_what_is_not_committed(string flag, uint seen)
    {
        var result = _run.Perform(
            """
            "connection": {"pragmas": [["read_uncommitted", 1]]}, "transaction": "immediate",
            "steps": [{"operation": "run", "sql": "INSERT INTO sink(a) VALUES (1)"},
                      {"operation": "open", "sql": "SELECT count(*) FROM sink", "columns": [{"name": "n", "type": "integer"}]}],
            "measure": {"operations_per_iteration": 1}
            """,
            database: $", \"flags\": [\"{flag}\"]");
        Assert.Null(result.Error?.Message);
        Assert.Equal((1u * 31) + seen, result.Checksum);
    }

    [Theory]
    [InlineData("\"no-mutex\"", "no-mutex")]
    [InlineData("\"private-cache\", \"full-mutex\"", "full-mutex")]
    [InlineData("\"private-cache\", \"shared-cache\"", "one of")]
    public void Flags_that_the_driver_cannot_pass_on_are_unsupported(string flags, string reason)
    {
        var result = _run.Perform("\"measure\": {\"operations_per_iteration\": 0}", database: $", \"flags\": [{flags}]");
        Assert.Equal("unsupported", result.Status);
        Assert.Contains(reason, result.Reason, StringComparison.Ordinal);
    }
}
