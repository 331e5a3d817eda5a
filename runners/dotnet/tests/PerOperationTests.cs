using Xunit;

namespace Sqlitmus.Tests;

public sealed class PerOperationTests : IDisposable
{
    private readonly JobRun _run = new();

    public void Dispose() => _run.Dispose();

    [Fact]
    public void Each_operation_gets_a_connection_that_the_pool_has_kept_open()
    {
        // total_changes() counts since the connection was opened.
        var result = _run.Perform("""
            "connection": {"per_operation": true},
            "steps": [{"operation": "run", "sql": "INSERT INTO sink(a) VALUES (?)", "repeat": 2,
                       "parameters": {"types": ["integer"], "rows": [[1], [2], [3], [4], [5], [6], [7], [8]]}},
                      {"operation": "get", "sql": "SELECT total_changes()", "statement": "adhoc",
                       "columns": [{"name": "n", "type": "integer"}]}],
            "measure": {"operations_per_iteration": 3}
            """);
        Assert.Null(result.Error?.Message);
        var expected = new long[] { 2, 4, 6 }.Sum(total => (((1 * 31) + 1) * 31) + total);
        Assert.Equal((3L, 6L, (uint)expected), (result.Rows, result.Affected, result.Checksum));
    }

    [Fact]
    public void Pragmas_are_set_by_keyword_or_after_opening()
    {
        var result = _run.Perform("""
            "connection": {"per_operation": true,
                           "pragmas": [["foreign_keys", "OFF"], ["busy_timeout", 1234], ["recursive_triggers", 1],
                                       ["cache_size", 77]]},
            "steps": [{"operation": "get", "sql": "PRAGMA foreign_keys", "columns": [{"name": "x", "type": "integer"}]},
                      {"operation": "get", "sql": "PRAGMA busy_timeout", "columns": [{"name": "x", "type": "integer"}]},
                      {"operation": "get", "sql": "PRAGMA recursive_triggers", "columns": [{"name": "x", "type": "integer"}]},
                      {"operation": "get", "sql": "PRAGMA cache_size", "columns": [{"name": "x", "type": "integer"}]}],
            "measure": {"operations_per_iteration": 2, "workers": 2}
            """);
        Assert.Null(result.Error?.Message);
        var expected = (((((0u * 31) + 1234) * 31) + 1) * 31) + 77;
        Assert.Equal([expected, expected], result.Workers.Select(worker => worker.Checksum));
    }

    [Theory]
    [InlineData("none", "measure")]
    [InlineData("deferred", "measure")]
    [InlineData("immediate", "measure")]
    [InlineData("immediate", "verify")]
    public void What_an_operation_writes_is_committed(string transaction, string mode)
    {
        var result = _run.Perform(
            $$"""
            "connection": {"per_operation": true}, "transaction": "{{transaction}}",
            "steps": [{"operation": "run", "sql": "INSERT INTO sink(a) VALUES (?)", "repeat": 2,
                       "parameters": {"types": ["integer"], "rows": [[10], [20], [30], [40]]} },
                      {"operation": "prepare", "sql": "SELECT 1"}],
            "reset": ["DELETE FROM sink"], "reset_every": 2,
            "readback": [{"sql": "SELECT a FROM sink ORDER BY a", "columns": [{"name": "a", "type": "integer"}]}],
            "measure": {"operations_per_iteration": 2, "latencies": true}
            """,
            mode);
        Assert.Null(result.Error?.Message);
        Assert.Equal(4, result.Affected);
        Assert.Equal(new Proof(4, (((10u * 31) + 20) * 31 + 30) * 31 + 40), result.Readback);
    }

    [Fact]
    public void A_transaction_that_an_operation_leaves_open_does_not_go_back_to_the_pool()
    {
        var job = _run.Read("""
            "connection": {"per_operation": true},
            "steps": [{"operation": "execute", "sql": "BEGIN"},
                      {"operation": "run", "sql": "INSERT INTO sink(a) VALUES (?)",
                       "parameters": {"types": ["integer"], "rows": [[1], [1], [2], [3]]}},
                      {"operation": "execute", "sql": "COMMIT"}],
            "measure": {"operations_per_iteration": 3}
            """);
        using var session = new Session(job, Parts.Of(job)[0], null);
        Assert.Throws<StatementException>(() => session.Run(0, 2));
        Assert.Equal(1, session.Run(2, 3).Tally.Affected);
    }

    [Fact]
    public void The_pool_lets_go_of_the_file_in_the_end()
    {
        _run.Perform("""
            "connection": {"per_operation": true, "pragmas": [["journal_mode", "WAL"]]},
            "steps": [{"operation": "run", "sql": "INSERT INTO sink(a) VALUES (1)"}],
            "measure": {"operations_per_iteration": 1}
            """);
        // The last connection to a database removes its log.
        Assert.False(File.Exists(_run.Database + "-wal"));
    }

    [Theory]
    [InlineData("\"connection\": {\"per_operation\": true}", "other.db", "")]
    [InlineData("\"connection\": {\"per_operation\": true}", ":memory:", "pool")]
    [InlineData("\"connection\": {\"per_operation\": true, \"setup\": [\"SELECT 1\"]}", "other.db", "setup")]
    [InlineData("\"connection\": {\"per_operation\": true}, \"transaction\": \"read\"", "other.db", "read transaction")]
    public void What_does_not_go_with_a_pool_is_unsupported(string members, string path, string reason)
    {
        var result = _run.Perform($"{members}, \"measure\": {{\"operations_per_iteration\": 0}}", path: path);
        Assert.Equal(reason.Length > 0 ? "unsupported" : "failed", result.Status);
        Assert.Contains(reason, result.Reason ?? "", StringComparison.Ordinal);
    }
}
