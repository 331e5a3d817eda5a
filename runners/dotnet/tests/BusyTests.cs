using Xunit;

namespace Sqlitmus.Tests;

/// <summary>
/// SQLITE_BUSY_SNAPSHOT comes at once: a transaction that has read cannot write after another connection, here that of
/// <c>open</c>, has written. The driver would wait 30 seconds nevertheless, because it sees primary codes only; so here
/// SQLite is told to give it extended ones.
/// </summary>
public sealed class BusyTests : IDisposable
{
    private const string Wal = "\"connection\": {\"pragmas\": [[\"journal_mode\", \"WAL\"]]}";

    private const string Conflict = """
        {"operation": "get", "sql": "SELECT i FROM t", "columns": [{"name": "i", "type": "integer"}]},
        {"operation": "open", "sql": "INSERT INTO sink(a) SELECT NULL WHERE (SELECT count(*) FROM sink) < ? RETURNING id",
         "parameters": {"types": ["integer"], "rows": [[LIMIT]]}, "columns": [{"name": "id", "type": "integer"}]},
        {"operation": "run", "sql": "UPDATE t SET i = i"}
        """;

    private readonly JobRun _run = new();

    public void Dispose() => _run.Dispose();

    [Theory]
    [InlineData("deferred", "")]
    [InlineData("deferred", "\"latencies\": true,")]
    [InlineData("none", "\"latencies\": true,")]
    public void Busy_operations_are_rolled_back_counted_and_fold_nothing(string transaction, string more)
    {
        var steps = Conflict.Replace("LIMIT", "99", StringComparison.Ordinal);
        if (transaction == "none")
        {
            steps = $$"""{"operation": "execute", "sql": "BEGIN"}, {{steps}}, {"operation": "execute", "sql": "COMMIT"}""";
        }

        var timings = Take($$"""
            {{Wal}}, "steps": [{{steps}}], "transaction": "{{transaction}}",
            "measure": {"operations_per_iteration": 3, "iterations": 2, "warmup_iterations": 1, "workers": 1, {{more}}
                        "rate": 1e9, "tolerate_busy": true}
            """);
        Assert.Equal([default, default, default], timings.Answers);
        var worker = Assert.Single(timings.Workers);
        Assert.Equal(6, worker.Busy);
        Assert.Equal(more.Length > 0 ? 6 : null, worker.Latencies?.Filled().Sum(bucket => bucket.Count));
    }

    [Fact]
    public void An_iteration_after_a_busy_one_returns_its_own()
    {
        // The first iteration finds an empty table and conflicts, the second does not.
        var timings = Take($$"""
            {{Wal}}, "steps": [{{Conflict.Replace("LIMIT", "1", StringComparison.Ordinal)}}], "transaction": "deferred",
            "measure": {"operations_per_iteration": 1, "iterations": 2, "latencies": true, "tolerate_busy": true}
            """);
        Assert.Equal([(0L, 0L), (1L, 3L)], timings.Answers.Select(answer => (answer.Rows, answer.Affected)));
        Assert.Equal(1, Assert.Single(timings.Workers).Busy);
    }

    [Fact]
    public void Untolerated_it_is_a_failure_like_any_other()
    {
        const int BusySnapshot = 517;
        var error = Assert.Throws<StatementException>(() => Take($$"""
            {{Wal}}, "steps": [{{Conflict.Replace("LIMIT", "1", StringComparison.Ordinal)}}], "transaction": "deferred",
            "measure": {"operations_per_iteration": 1}
            """));
        Assert.Equal(BusySnapshot, error.Code);
    }

    [Fact]
    public void Other_failures_are_not_tolerated()
    {
        var result = _run.Perform("""
            "steps": [{"operation": "run", "sql": "INSERT INTO t(id) VALUES (1)"}],
            "measure": {"operations_per_iteration": 1, "tolerate_busy": true}
            """);
        Assert.Equal("failed", result.Status);
    }

    private Timings Take(string members)
    {
        var job = _run.Read(members);
        using var workers = new Workers(job, null);
        foreach (var session in workers.Sessions)
        {
            SQLitePCL.raw.sqlite3_extended_result_codes(session.Connection.Handle, 1);
        }

        return Iterations.Take(job, workers);
    }
}
