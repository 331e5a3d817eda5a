using Microsoft.Data.Sqlite;

namespace Sqlitmus;

/// <summary>
/// One statement of an operation, made for its operation, shape, columns and statement kind before the clock starts.
/// <c>One</c> is a method of its own because it then climbs the JIT's tiers by its calls; a loop that is entered once
/// per iteration would have to be replaced while it runs.
/// </summary>
internal abstract class Step(StepSite site)
{
    public StepSite Site { get; } = site;

    /// <summary>Where rows are written in verify mode; null in measure mode.</summary>
    protected Digest? Digest { get; } = site.Digest;

    /// <summary>Executions <paramref name="first"/> … <paramref name="first"/> + <paramref name="count"/> − 1.</summary>
    public void Execute(long first, long count, ref Tally tally)
    {
        for (var n = first; n < first + count; n++)
        {
            One(n, ref tally);
        }
    }

    /// <summary>The driver refuses a command whose transaction is not the connection's.</summary>
    public static void Enlist(Step[] steps, SqliteTransaction? transaction)
    {
        foreach (var step in steps)
        {
            if (step.Site.Command is { } command)
            {
                command.Transaction = transaction;
            }
        }
    }

    protected abstract void One(long n, ref Tally tally);
}

/// <summary>What all kinds of step have: SQL as the job has it, repeats per operation, and what they work with.</summary>
/// <param name="Command">The command to enlist in a transaction; null where each execution makes its own.</param>
internal sealed record StepSite(string Sql, long Repeat, SqliteCommand? Command, Digest? Digest);

internal sealed class GetStep<TRow, TStatement>(StepSite site, TStatement statement) : Step(site)
    where TRow : struct, IRow
    where TStatement : struct, IStatement
{
    protected override void One(long n, ref Tally tally)
    {
        var rows = 0;
        var command = statement.Begin(n);
        using (var reader = command.ExecuteReader())
        {
            if (reader.Read())
            {
                TRow row = default;
                row.Read(reader);
                tally.H = row.Fold(tally.H);
                rows = 1;
                if (Digest is { } digest)
                {
                    row.Write(digest);
                }
            }
        }

        statement.End(command);
        tally.Rows += rows;
        Digest?.End(rows);
    }
}

internal sealed class AllStep<TRow, TStatement>(StepSite site, TStatement statement) : Step(site)
    where TRow : struct, IRow
    where TStatement : struct, IStatement
{
    protected override void One(long n, ref Tally tally)
    {
        var rows = new List<TRow>();
        var command = statement.Begin(n);
        using (var reader = command.ExecuteReader())
        {
            while (reader.Read())
            {
                TRow row = default;
                row.Read(reader);
                rows.Add(row);
            }
        }

        statement.End(command);
        var h = tally.H;
        foreach (var row in rows)
        {
            h = row.Fold(h);
        }

        tally.H = h;
        tally.Rows += rows.Count;
        if (Digest is { } digest)
        {
            rows.ForEach(row => row.Write(digest));
            digest.End(rows.Count);
        }
    }
}

internal sealed class IterateStep<TRow, TStatement>(StepSite site, TStatement statement) : Step(site)
    where TRow : struct, IRow
    where TStatement : struct, IStatement
{
    protected override void One(long n, ref Tally tally)
    {
        var h = tally.H;
        var rows = 0;
        var digest = Digest;
        var command = statement.Begin(n);
        using (var reader = command.ExecuteReader())
        {
            while (reader.Read())
            {
                TRow row = default;
                row.Read(reader);
                h = row.Fold(h);
                rows++;
                if (digest is not null)
                {
                    row.Write(digest);
                }
            }
        }

        statement.End(command);
        tally.H = h;
        tally.Rows += rows;
        digest?.End(rows);
    }
}

internal sealed class PrepareStep<TSource>(StepSite site, TSource source, string sql) : Step(site)
    where TSource : struct, IConnectionSource
{
    protected override void One(long n, ref Tally tally)
    {
        using (var command = source.Connection.CreateCommand())
        {
            command.CommandText = sql;
            command.Prepare();
        }

        Digest?.End(0);
    }
}

/// <summary>Opens a second connection, sets it up, gets one row and closes it.</summary>
internal sealed class OpenStep<TRow>(StepSite site, ConnectionMaker maker, NamedSql sql, object[][] pool) : Step(site)
    where TRow : struct, IRow
{
    protected override void One(long n, ref Tally tally)
    {
        using var connection = maker.OpenSecond();
        var statement = new AdhocStatement<OwnConnection>(new OwnConnection(connection), sql, pool);
        new GetStep<TRow, AdhocStatement<OwnConnection>>(Site, statement).Execute(n, 1, ref tally);
    }
}

/// <summary>Opens the database that its parameter names, sets it up, gets one row and closes it.</summary>
internal sealed class OpenFileStep<TRow>(StepSite site, ConnectionMaker maker, NamedSql sql, object[][] paths) : Step(site)
    where TRow : struct, IRow
{
    private static readonly object[][] Nothing = [[]];
    private readonly string[] _strings = [.. paths.Select(row => maker.StringFor((string)row[0]))];

    protected override void One(long n, ref Tally tally)
    {
        using var connection = maker.OpenFile(_strings[n & (_strings.Length - 1)]);
        var statement = new AdhocStatement<OwnConnection>(new OwnConnection(connection), sql, Nothing);
        new GetStep<TRow, AdhocStatement<OwnConnection>>(Site, statement).Execute(n, 1, ref tally);
    }
}
