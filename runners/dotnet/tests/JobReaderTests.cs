using System.Text;
using System.Text.Json;
using Xunit;

namespace Sqlitmus.Tests;

public sealed class JobReaderTests
{
    private const string Valid = """
        {
          "mode": "measure",
          "cell": "get-pk@x",
          "database": {"path": "x.db"},
          "steps": [{
            "operation": "get", "sql": "SELECT id FROM users WHERE id = ?",
            "parameters": {"types": ["integer"], "rows": [[1], ["9223372036854775807"]]},
            "columns": [{"name": "id", "type": "integer"}]
          }],
          "measure": {"operations_per_iteration": 10},
          "output": "out.json"
        }
        """;

    [Fact]
    public void What_a_job_leaves_out_has_the_contracts_defaults()
    {
        var job = Read(Valid);
        Assert.Equal((true, TransactionKind.None), (job.Inspect, job.Transaction));
        Assert.Empty(job.Connection.Pragmas);
        Assert.Empty(job.Reset);
        Assert.Equal((1, 1, 0L), (job.Measure.Iterations, job.Measure.Workers, job.Measure.WarmupIterations));
        Assert.Equal((false, false, null, null), (job.Measure.Latencies, job.Measure.TolerateBusy, job.Measure.Share, job.Measure.Rate));
        Assert.Equal(new Share(0, 1), job.Measure.Place);
        Assert.Null(job.Writer);
        Assert.Empty(job.Database!.Flags);
        Assert.False(job.Connection.PerOperation);
        var step = Assert.Single(job.Steps);
        Assert.Null(step.Fails);
        Assert.Equal((1L, Shape.Object, Integers.Number, StatementKind.Prepared),
            (step.Repeat, step.Shape, step.Integers, step.Statement));
        Assert.Equal([[1L], [long.MaxValue]], step.Parameters.Rows);
    }

    [Fact]
    public void Pragmas_become_literals()
    {
        var job = Read(Valid.Replace("\"steps\"", "\"connection\": {\"pragmas\": [[\"a\", \"o'k\"], [\"b\", -2]]}, \"steps\""));
        Assert.Equal(["PRAGMA a = 'o''k'", "PRAGMA b = -2"], job.Connection.Pragmas.Select(pragma => pragma.Sql));
    }

    [Theory]
    [InlineData("\"cell\": \"get-pk@x\",", "", "job:1: $: expected the missing key cell")]
    [InlineData("\"sql\"", "\"extra\": 1, \"sql\"", "job:6: $.steps[0].extra: unknown key; expected one of operation, sql")]
    [InlineData("\"get\"", "\"fetch\"", "job:6: $.steps[0].operation: expected one of get, all, iterate, run, prepare, open, open-file, in-transaction, execute, read-file")]
    [InlineData("\"operations_per_iteration\": 10", "\"operations_per_iteration\": \"ten\"", "job:10: $.measure.operations_per_iteration: expected an integer of 0 or more, got \"ten\"")]
    [InlineData("\"path\": \"x.db\"", "\"path\": 7", "job:4: $.database.path: expected a string")]
    [InlineData("\"path\": \"x.db\"", "\"path\": null", "job:4: $.database: expected the missing key path")]
    [InlineData("\"types\": [\"integer\"]", "\"types\": 3", "job:7: $.steps[0].parameters.types: expected an array")]
    [InlineData("[[1], [\"9223372036854775807\"]]", "[[1], [2.5]]", "job:7: $.steps[0].parameters.rows[1][0]: expected an integer of 64 bits or null, got 2.5")]
    [InlineData("[[1], [\"9223372036854775807\"]]", "[[1], [2], [3]]", "job:7: $.steps[0].parameters.rows: expected a power of two of rows, at most 16384, got 3")]
    [InlineData("[[1], [\"9223372036854775807\"]]", "[[1, 2]]", "job:7: $.steps[0].parameters.rows[0]: expected an array of 1 values, got [1, 2]")]
    [InlineData("id = ?", "id = 1", "job:5: $.steps[0].parameters: expected 0 types for the ? in the SQL, got 1")]
    [InlineData("id = ?\",", "id = :id\", \"names\": [\"id\"],", "job:6: $.steps[0].names[0]: expected letters, digits and _ after one of :, @ and $, got \"id\"")]
    [InlineData("id = ?\",", "id = :id\", \"names\": [\":id\", \":no\"],", "job:5: $.steps[0].names: expected 1, which differ without their prefix")]
    [InlineData("\"database\": {\"path\": \"x.db\"},", "", "job:1: $: expected the missing key database, because there are steps")]
    [InlineData("\"mode\"", "\"contract\": 1, \"mode\"", "job:2: $.contract: expected 2, got 1")]
    [InlineData("\"mode\"", "\"reset\": [\"x\"], \"mode\"", "job:1: $.reset_every: expected after how many operations reset is due")]
    [InlineData("\"mode\"", "\"reset_every\": 0, \"mode\"", "job:2: $.reset_every: expected an integer of 1 or more, got 0")]
    [InlineData("\"mode\"", "\"reset_every\": 15, \"mode\"", "job:2: $.reset_every: expected whole iterations of 10 operations, got 15")]
    [InlineData("_iteration\": 10}", "_iteration\": 0}, \"reset_every\": 15", "job:10: $.reset_every: expected whole iterations of 0 operations, got 15")]
    [InlineData("_iteration\": 10", "_iteration\": 10, \"mixed\": true", "job:10: $.measure.mixed: unknown key")]
    [InlineData("_iteration\": 10", "_iteration\": 10, \"digest\": true", "job:10: $.measure.digest: expected an integer of 0 or more, got true")]
    [InlineData("\"columns\": [{\"name\": \"id\", \"type\": \"integer\"}]", "\"columns\": []", "job:5: $.steps[0].columns: expected the columns of the result")]
    [InlineData("\"path\": \"x.db\"", "\"path\": \"x.db\", \"flags\": [\"create\"]", "job:4: $.database.flags[0]: expected one of no-mutex, full-mutex, private-cache, shared-cache, got")]
    [InlineData("\"steps\"", "\"connection\": {\"setup\": [1]}, \"steps\"", "job:5: $.connection.setup[0]: expected a string, got 1")]
    [InlineData("\"steps\"", "\"connection\": {\"per_operation\": 1}, \"steps\"", "job:5: $.connection.per_operation: expected true or false, got 1")]
    [InlineData("\"sql\"", "\"fails\": 19, \"sql\"", "job:6: $.steps[0].fails: expected none, because only run can be expected to fail")]
    [InlineData("\"get\", \"sql\"", "\"in-transaction\", \"sql\"", "job:6: $.steps[0].sql: expected none, because in-transaction and read-file have none, got \"SELECT")]
    [InlineData("\"operation\": \"get\", \"sql\": \"SELECT id FROM users WHERE id = ?\"", "\"operation\": \"read-file\"", "job:5: $.steps[0].columns: expected one blob that cannot be NULL, the file")]
    [InlineData("\"get\", \"sql\"", "\"execute\", \"sql\"", "job:7: $.steps[0].parameters: expected none, because execute binds nothing")]
    [InlineData("\"steps\"", "\"writer\": {\"transaction\": \"immediate\", \"steps\": [{\"operation\": \"execute\", \"sql\": \"x\"}], \"operations\": 1}, \"steps\"", "job:5: $.writer.transaction: expected none, because a step is execute, which can begin one itself, got \"immediate\"")]
    [InlineData("SELECT id FROM users WHERE id = ?", "", "job:6: $.steps[0].sql: expected a statement, got \"\"")]
    [InlineData("_iteration\": 10", "_iteration\": 10, \"rate\": 0", "job:10: $.measure.rate: expected a number above 0, got 0")]
    [InlineData("_iteration\": 10", "_iteration\": 10, \"workers\": 2, \"share\": {\"first\": 2, \"of\": 3}", "job:10: $.measure.share: expected a share that has room for 2 workers, got {")]
    [InlineData("_iteration\": 10", "_iteration\": 10, \"share\": {\"of\": 0}", "job:10: $.measure.share.of: expected an integer of 1 or more, got 0")]
    [InlineData("\"steps\"", "\"writer\": {\"steps\": [], \"operations\": 1}, \"steps\"", "job:5: $.writer.steps: expected one step or more, got []")]
    [InlineData("\"steps\"", "\"writer\": {\"steps\": [{\"operation\": \"run\", \"sql\": \"x\", \"y\": 1}], \"operations\": 1}, \"steps\"", "job:5: $.writer.steps[0].y: unknown key")]
    [InlineData("\"steps\"", "\"writer\": {\"steps\": [{\"operation\": \"run\", \"sql\": \"x\"}], \"operations\": 0}, \"steps\"", "job:5: $.writer.operations: expected an integer of 1 or more, got 0")]
    [InlineData("\"steps\"", "\"writer\": {\"transaction\": \"read\", \"steps\": [{\"operation\": \"run\", \"sql\": \"x\"}], \"operations\": 1}, \"steps\"", "job:5: $.writer.transaction: expected one of none, deferred, immediate, got \"read\"")]
    [InlineData("\"output\": \"out.json\"", "\"output\": \"out.json", "job:11: expected JSON: ")]
    public void A_bad_job_is_refused_with_place_and_expectation(string original, string replacement, string begin)
    {
        var text = Valid.Replace(original, replacement);
        Assert.NotEqual(Valid, text);
        var message = Assert.Throws<JobException>(() => Read(text)).Message;
        Assert.StartsWith(begin, message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("blob", "\"0g\"", "expected hexadecimal digits or null, got \"0g\"")]
    [InlineData("text", "1", "expected a string or null, got 1")]
    [InlineData("real", "\"1\"", "expected a number or null, got \"1\"")]
    public void A_parameter_that_does_not_fit_its_type_is_refused(string type, string value, string expectation)
    {
        using var document = JsonDocument.Parse($$"""{"types": ["{{type}}"], "rows": [[{{value}}]]}""");
        var message = Assert.Throws<JobException>(() => Pool.Read(new Node(document.RootElement, "p"))).Message;
        Assert.Equal($"p.rows[0][0]: {expectation}", message);
    }

    private static Job Read(string text) => JobReader.Read(Encoding.UTF8.GetBytes(text), "job");
}
