using Microsoft.Data.Sqlite;

namespace Sqlitmus;

internal sealed class RunStep<TStatement>(StepSite site, TStatement statement) : Step(site)
    where TStatement : struct, IStatement
{
    protected override void One(long n, ref Tally tally)
    {
        var command = statement.Begin(n);
        var affected = command.ExecuteNonQuery();
        statement.End(command);
        tally.H = tally.H * 31 + Checksum.Of(affected);
        tally.Affected += affected;
        Digest?.End(affected);
    }
}

/// <summary>Executes a statement and asks nothing of it.</summary>
internal sealed class ExecuteStep<TStatement>(StepSite site, TStatement statement) : Step(site)
    where TStatement : struct, IStatement
{
    protected override void One(long n, ref Tally tally)
    {
        var command = statement.Begin(n);
        command.ExecuteNonQuery();
        statement.End(command);
        Digest?.End(0);
    }
}

/// <summary>A <c>run</c> that must fail with a result code, which is caught as a user of the driver would.</summary>
internal sealed class FailStep<TStatement>(StepSite site, TStatement statement, int code) : Step(site)
    where TStatement : struct, IStatement
{
    private const int PrimaryCode = 0xFF;

    protected override void One(long n, ref Tally tally)
    {
        var command = statement.Begin(n);
        try
        {
            command.ExecuteNonQuery();
        }
        catch (SqliteException e) when ((e.SqliteExtendedErrorCode & PrimaryCode) == code)
        {
            statement.End(command);
            tally.H = tally.H * 31 + (uint)code;
            Digest?.Integer(code);
            Digest?.End(0);
            return;
        }
        catch (SqliteException e)
        {
            throw new StatementException(Site.Sql, e, Expectation);
        }

        throw new StatementException(Site.Sql, new InvalidOperationException("success"), Expectation);
    }

    private string Expectation => $"the statement must fail with SQLite's result code {code}";
}
