using Xunit;

namespace Sqlitmus.Tests;

public sealed class InvocationTests : IDisposable
{
    private const string Columns = """
        "columns": [{"name": "i", "type": "integer", "nullable": true}, {"name": "r", "type": "real", "nullable": true},
                    {"name": "s", "type": "text", "nullable": true}, {"name": "b", "type": "blob", "nullable": true}]
        """;

    private readonly JobRun _run = new();

    public void Dispose() => _run.Dispose();

    [Theory]
    [InlineData("all", "object", "prepared")]
    [InlineData("all", "array", "adhoc")]
    [InlineData("all", "typed", "prepared")]
    [InlineData("iterate", "object", "adhoc")]
    [InlineData("iterate", "array", "prepared")]
    [InlineData("iterate", "typed", "adhoc")]
    public void Every_shape_reads_every_column_of_every_row(string operation, string shape, string statement)
    {
        var result = _run.Perform($$"""
            "steps": [{"operation": "{{operation}}", "shape": "{{shape}}", "statement": "{{statement}}",
                       "sql": "SELECT i, r, s, b FROM t ORDER BY id", {{Columns}}}],
            "measure": {"operations_per_iteration": 2}
            """);
        const uint Null = 0x9E3779B9;
        uint[] values = [5, 2, (31 * 'a') + 'b', 2 + 31 + 2, Null, Null, Null, Null, 0xFFFFFFFF, 0xFFFFFFFF, 0, 0];
        var expected = 2 * values.Aggregate(0u, (h, x) => unchecked((h * 31) + x));
        Assert.Null(result.Error?.Message);
        Assert.Equal(("ok", 2L, 6L, expected), (result.Status, result.Operations, result.Rows, result.Checksum));
    }

    [Theory]
    [InlineData("object")]
    [InlineData("array")]
    [InlineData("typed")]
    public void A_null_that_is_not_declared_fails_in_every_shape(string shape)
    {
        foreach (var (name, type) in new[] { ("i", "integer"), ("r", "real"), ("s", "text"), ("b", "blob") })
        {
            var result = _run.Perform($$"""
                "steps": [{"operation": "all", "shape": "{{shape}}", "sql": "SELECT {{name}} FROM t",
                           "columns": [{"name": "{{name}}", "type": "{{type}}"}]}],
                "measure": {"operations_per_iteration": 1}
                """);
            Assert.Equal("failed", result.Status);
        }
    }

    [Fact]
    public void Verify_gives_the_same_digest_in_every_shape()
    {
        var digests = new[] { "object", "array", "typed" }.Select(shape => _run.Perform(
            $$"""
            "steps": [{"operation": "all", "shape": "{{shape}}", "sql": "SELECT i, r, s, b FROM t", {{Columns}}}],
            "measure": {"operations_per_iteration": 1}
            """,
            "verify").Digest);
        Assert.Equal(64, Assert.Single(digests.Distinct())!.Length);
    }

    private static string Number(int repeat) => $$"""
        {"operation": "get", "sql": "SELECT ?", "repeat": {{repeat}}, "columns": [{"name": "n", "type": "integer"}],
         "parameters": {"types": ["integer"], "rows": [[0], [1], [2], [3], [4], [5], [6], [7]]} }
        """;

    [Theory]
    [InlineData(1, false, "", "[(3, 3), (3, 12), (3, 13)]")]
    [InlineData(1, false, ", \"latencies\": true", "[(3, 3), (3, 12), (3, 13)]")]
    [InlineData(1, false, ", \"workers\": 2", "[(3, 3), (3, 12), (3, 13)]")]
    [InlineData(2, false, "", "[(6, 195), (6, 259), (6, 323)]")]
    [InlineData(1, true, "", "[(6, 96), (6, 105), (6, 106)]")]
    public void Operations_go_on_over_the_iterations(int repeat, bool afterAnother, string more, string expected)
    {
        // Each returns the number of the execution, modulo 8.
        var another = afterAnother
            ? """{"operation": "get", "sql": "SELECT 1", "columns": [{"name": "n", "type": "integer"}]},"""
            : "";
        var result = _run.Perform($$"""
            "steps": [{{another}} {{Number(repeat)}}],
            "measure": {"operations_per_iteration": 3, "iterations": 2, "warmup_iterations": 1{{more}} }
            """);
        Assert.Null(result.Error?.Message);
        var told = result.Answers.Select(answer => $"({answer.Rows}, {answer.Checksum})");
        Assert.Equal(expected, $"[{string.Join(", ", told)}]");
        Assert.Equal(9, result.Operations);
        Assert.Equal((result.Answers.Sum(answer => answer.Rows), (uint)result.Answers.Sum(answer => answer.Checksum)),
            (result.Rows, result.Checksum));
    }

    [Fact]
    public void Verify_tells_each_operation_and_so_does_the_digest_after_measuring()
    {
        var verified = Perform("verify", "\"operations_per_iteration\": 3, \"workers\": 2");
        Assert.Equal([(1L, 0u), (1L, 1u), (1L, 2u)], verified.Answers.Select(answer => (answer.Rows, answer.Checksum)));
        Assert.Equal(3, verified.Operations);
        var measured = Perform("measure", "\"operations_per_iteration\": 5, \"iterations\": 2, \"digest\": 3");
        Assert.Equal(verified.Digest, measured.Digest);
        Assert.Equal([10u, 19u], measured.Answers.Select(answer => answer.Checksum));

        Result Perform(string mode, string measure) =>
            _run.Perform($$"""  "steps": [{{Number(1)}}], "measure": {{{measure}}}  """, mode);
    }

    [Theory]
    [InlineData("measure", 2, "65 69 65")]
    [InlineData("verify", 6, "32 33 34 35 32 33")]
    public void A_reset_is_done_only_where_it_is_due(string mode, int operations, string expected)
    {
        var result = _run.Perform(
            $$"""
            "steps": [{"operation": "run", "sql": "INSERT INTO sink(a) VALUES (NULL)"},
                      {"operation": "get", "sql": "SELECT count(*) FROM sink", "columns": [{"name": "n", "type": "integer"}]}],
            "reset": ["DELETE FROM sink"], "reset_every": 4,
            "measure": {"operations_per_iteration": {{operations}}, "iterations": 3}
            """,
            mode);
        // Each operation folds 1 affected row, then how many there are.
        Assert.Equal(expected, string.Join(' ', result.Answers.Select(answer => answer.Checksum)));
    }

    [Theory]
    [InlineData("verify")]
    [InlineData("measure")]
    public void Workers_add_up_to_their_shares(string mode)
    {
        var result = _run.Perform(
            """
            "steps": [{"operation": "get", "sql": "SELECT i FROM t WHERE id = ?", "columns": [{"name": "i", "type": "integer"}],
                       "parameters": {"types": ["integer"], "rows": [[1], [3], [9], [1]]}}],
            "transaction": "read",
            "measure": {"operations_per_iteration": 4, "warmup_iterations": 1, "iterations": 2, "workers": 2}
            """,
            mode);
        // Worker 0 has operations 0 and 1, worker 1 has 2 (a miss) and 3, and so on.
        const uint Each = 5 - 1;
        Assert.Equal(mode == "verify" ? ("ok", 3L, Each + 5) : ("ok", 9L, 3 * (Each + 5)),
            (result.Status, result.Rows, result.Checksum));
        Assert.Equal(
            mode == "verify" ? [] : [(6L, 6L, 3 * Each, 2), (6L, 3L, 15u, 2)],
            result.Workers.Select(worker => (worker.Operations, worker.Rows, worker.Checksum, worker.IterationsNs.Length)));
    }

    [Fact]
    public void Writes_in_transactions_are_counted_reset_and_read_back()
    {
        var result = _run.Perform("""
            "steps": [{"operation": "run", "sql": "INSERT INTO sink(a) VALUES (?)", "repeat": 2,
                       "parameters": {"types": ["integer"], "rows": [[10], [20], [30], [40]]}}],
            "transaction": "immediate", "reset": ["DELETE FROM sink"], "reset_every": 2,
            "readback": [{"sql": "SELECT a FROM sink ORDER BY a", "columns": [{"name": "a", "type": "integer"}]}],
            "measure": {"operations_per_iteration": 2, "iterations": 2, "warmup_iterations": 1}
            """);
        Assert.Equal(("ok", 12L, 0L), (result.Status, result.Affected, result.Rows));
        Assert.Equal(6 * ((1u * 31) + 1), result.Checksum);
        Assert.Equal(new Proof(4, (((10u * 31) + 20) * 31 + 30) * 31 + 40), result.Readback);
        Assert.Equal((1, 2), (result.WarmupNs.Count, result.IterationsNs.Count));
    }

    [Theory]
    [InlineData("prepared", "verify", false)]
    [InlineData("prepared", "measure", false)]
    [InlineData("adhoc", "measure", false)]
    [InlineData("prepared", "measure", true)]
    [InlineData("adhoc", "measure", true)]
    public void What_is_executed_counts_and_folds_nothing(string statement, string mode, bool perOperation)
    {
        var result = _run.Perform(
            $$"""
            "connection": {"per_operation": {{(perOperation ? "true" : "false")}} },
            "steps": [{"operation": "execute", "sql": "BEGIN IMMEDIATE", "statement": "{{statement}}"},
                      {"operation": "run", "sql": "INSERT INTO sink(a) VALUES (?)",
                       "parameters": {"types": ["integer"], "rows": [[10], [20]]} },
                      {"operation": "execute", "sql": "SAVEPOINT s", "repeat": 2, "statement": "{{statement}}"},
                      {"operation": "execute", "sql": "COMMIT", "statement": "{{statement}}"}],
            "reset": ["DELETE FROM sink"], "reset_every": 2,
            "readback": [{"sql": "SELECT a FROM sink ORDER BY a", "columns": [{"name": "a", "type": "integer"}]}],
            "measure": {"operations_per_iteration": 2, "iterations": 2}
            """,
            mode);
        Assert.Null(result.Error?.Message);
        Assert.Equal(mode == "verify" ? (0L, 2L, 2u) : (0L, 4L, 4u), (result.Rows, result.Affected, result.Checksum));
        Assert.Equal(new Proof(2, (10u * 31) + 20), result.Readback);
        Assert.Empty(result.Plans[0]);
    }

    [Fact]
    public void A_failing_statement_is_named_with_its_extended_code()
    {
        var result = _run.Perform("""
            "steps": [{"operation": "run", "sql": "INSERT INTO sink(a) VALUES (1)"}],
            "measure": {"operations_per_iteration": 2}
            """);
        const int ConstraintUnique = 2067;
        Assert.Equal(("failed", ConstraintUnique), (result.Status, result.Error!.SqliteCode));
        Assert.Equal("INSERT INTO sink(a) VALUES (1)", result.Error.Sql);
        Assert.Contains("UNIQUE constraint failed: sink.a", result.Error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_worker_that_fails_ends_the_others()
    {
        var result = _run.Perform("""
            "steps": [{"operation": "run", "sql": "INSERT INTO sink(a) VALUES (1)"}],
            "measure": {"operations_per_iteration": 4, "workers": 3}
            """);
        Assert.Equal("failed", result.Status);
    }

    [Theory]
    [InlineData("\"integers\": \"bigint\",", "64 bits")]
    [InlineData("\"statement\": \"cached\",", "statement cache")]
    public void What_the_driver_lacks_is_unsupported(string member, string reason)
    {
        var result = _run.Perform($$"""
            "steps": [{"operation": "get", {{member}} "sql": "SELECT 1", "columns": [{"name": "1", "type": "integer"}]}],
            "measure": {"operations_per_iteration": 1}
            """);
        Assert.Equal("unsupported", result.Status);
        Assert.Contains(reason, result.Reason, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("get", "SELECT i, r FROM t", 1, 2)]
    [InlineData("iterate", "SELECT i FROM t", 2, 1)]
    [InlineData("run", "SELECT i FROM t", 0, 1)]
    [InlineData("execute", "SELECT i FROM t", 0, 1)]
    public void A_column_that_the_job_does_not_declare_fails(string operation, string sql, int declared, int found)
    {
        var columns = string.Join(',', Enumerable.Repeat("""{"name": "i", "type": "integer"}""", declared));
        var result = _run.Perform($$"""
            "steps": [{"operation": "{{operation}}", "sql": "{{sql}}", "columns": [{{columns}}]}],
            "measure": {"operations_per_iteration": 1}
            """);
        Assert.Equal(
            ("failed", $"the job declares {declared} columns, the statement has {found}"),
            (result.Status, result.Error?.Message));
    }

    [Fact]
    public void Whether_a_transaction_is_open_is_unsupported()
    {
        var result = _run.Perform("""
            "steps": [{"operation": "in-transaction"}], "measure": {"operations_per_iteration": 1}
            """);
        Assert.Equal("unsupported", result.Status);
        Assert.Contains("transaction is open", result.Reason, StringComparison.Ordinal);
    }

    [Fact]
    public void A_writers_steps_are_looked_at_too()
    {
        var result = _run.Perform("""
            "writer": {"steps": [{"operation": "run", "sql": "DELETE FROM sink", "statement": "cached"}], "operations": 1},
            "measure": {"operations_per_iteration": 1}
            """, "verify");
        Assert.Equal("unsupported", result.Status);
    }

    [Fact]
    public void Engine_options_are_unsupported()
    {
        var result = _run.Perform("""
            "connection": {"engine": {"memstatus": 0}}, "measure": {"operations_per_iteration": 0}
            """);
        Assert.Equal("unsupported", result.Status);
        Assert.Contains("memstatus", result.Reason, StringComparison.Ordinal);
    }

    [Fact]
    public void Open_reads_a_row_through_a_connection_of_its_own_with_uri_parameters()
    {
        var result = _run.Perform(
            """
            "steps": [{"operation": "open", "sql": "SELECT i FROM t", "columns": [{"name": "i", "type": "integer"}]}],
            "measure": {"operations_per_iteration": 2}
            """,
            database: ", \"mode\": \"readonly\", \"uri\": {\"immutable\": \"1\"}");
        Assert.Null(result.Error?.Message);
        Assert.Equal(("ok", 2L, 5u + 5), (result.Status, result.Rows, result.Checksum));
    }

    [Fact]
    public void A_missing_database_is_not_created()
    {
        File.Delete(_run.Database);
        Assert.Equal("failed", _run.Perform("\"measure\": {\"operations_per_iteration\": 0}").Status);
        Assert.False(File.Exists(_run.Database));
    }

    [Fact]
    public void Inspection_reads_pragmas_and_plans()
    {
        var result = _run.Perform("""
            "connection": {"pragmas": [["cache_size", -1234]]},
            "steps": [{"operation": "get", "sql": "SELECT i FROM t WHERE id = ?", "columns": [{"name": "i", "type": "integer"}],
                       "parameters": {"types": ["integer"], "rows": [[1]]}}],
            "measure": {"operations_per_iteration": 1}
            """);
        Assert.Equal(-1234L, result.Pragmas.Single(pragma => pragma.Key == "cache_size").Value);
        Assert.Equal(12, result.Pragmas.Length);
        Assert.Contains("INTEGER PRIMARY KEY", Assert.Single(Assert.Single(result.Plans)), StringComparison.Ordinal);
    }
}
