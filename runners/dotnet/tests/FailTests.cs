using Xunit;

namespace Sqlitmus.Tests;

public sealed class FailTests : IDisposable
{
    private readonly JobRun _run = new();

    public void Dispose() => _run.Dispose();

    [Theory]
    [InlineData("prepared", "none", "false")]
    [InlineData("adhoc", "immediate", "false")]
    [InlineData("prepared", "deferred", "true")]
    public void A_failure_that_is_expected_folds_its_primary_code(string statement, string transaction, string perOperation)
    {
        var result = _run.Perform($$"""
            "connection": {"per_operation": {{perOperation}}}, "transaction": "{{transaction}}",
            "steps": [{"operation": "run", "sql": "INSERT INTO t(id) VALUES (1)", "fails": 19, "repeat": 2,
                       "statement": "{{statement}}"},
                      {"operation": "run", "sql": "UPDATE t SET i = 1"}],
            "measure": {"operations_per_iteration": 1, "iterations": 2}
            """);
        Assert.Null(result.Error?.Message);
        Assert.Equal((6L, 2 * (((19u * 31) + 19) * 31 + 3)), (result.Affected, result.Checksum));
    }

    [Fact]
    public void The_digest_has_the_code_as_an_integer_and_an_end_without_rows()
    {
        using var digest = new Digest();
        digest.Integer(19);
        digest.End(0);
        var result = _run.Perform(
            """
            "steps": [{"operation": "run", "sql": "INSERT INTO t(id) VALUES (1)", "fails": 19}],
            "measure": {"operations_per_iteration": 1}
            """,
            "verify");
        Assert.Equal((digest.Finish(), 19u, 0L), (result.Digest, result.Checksum, result.Affected));
    }

    [Theory]
    [InlineData("INSERT INTO sink(a) VALUES (1)", null, "success")]
    [InlineData("INSERT INTO sink(id) VALUES ('x')", 20, "mismatch")]
    public void Success_and_other_failures_fail_the_job(string sql, int? code, string got)
    {
        var result = _run.Perform($$"""
            "steps": [{"operation": "run", "sql": "{{sql}}", "fails": 19}], "measure": {"operations_per_iteration": 1}
            """);
        Assert.Equal(("failed", code, sql), (result.Status, result.Error!.SqliteCode, result.Error.Sql));
        Assert.Contains("must fail with SQLite's result code 19", result.Error.Message, StringComparison.Ordinal);
        Assert.Contains(got, result.Error.Message, StringComparison.Ordinal);
    }
}
