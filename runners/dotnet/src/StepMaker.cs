using Microsoft.Data.Sqlite;

namespace Sqlitmus;

/// <summary>Turns the job's steps into code for one connection.</summary>
internal static class StepMaker
{
    /// <exception cref="UnsupportedException">The step asks for what the driver does not have.</exception>
    public static void CheckSupported(StepSpec spec)
    {
        if (spec.Integers == Integers.Bigint)
        {
            throw new UnsupportedException("integers in .NET have 64 bits; there is no bigint variant");
        }

        if (spec.Values == Values.Unread)
        {
            throw new UnsupportedException("this runner reads every value of the rows that it is given");
        }

        if (spec.Operation == Operation.InTransaction)
        {
            throw new UnsupportedException("Microsoft.Data.Sqlite does not tell whether a transaction is open on a connection");
        }

        if (spec.Statement == StatementKind.Cached)
        {
            throw new UnsupportedException("Microsoft.Data.Sqlite has no statement cache");
        }
    }

    /// <summary>Makes a step and prepares its statement, if it keeps one, on <paramref name="connection"/>.</summary>
    /// <param name="lease">Where the step takes its connections from instead; null without a connection per operation.</param>
    public static Step Make(
        StepSpec spec, SqliteConnection connection, ConnectionMaker maker, Lease? lease, Digest? digest)
    {
        var pool = spec.Parameters.Rows;
        var sql = spec.Named;
        if (spec.Operation == Operation.ReadFile)
        {
            return new ReadFileStep(new StepSite(spec.Sql, spec.Repeat, null, digest), pool);
        }

        var keeps = spec is { Statement: StatementKind.Prepared, Operation: not (Operation.Prepare or Operation.Open or Operation.OpenFile) };
        var command = keeps && lease is null ? Prepare(connection, sql, pool[0]) : null;
        IConnectionSource source = lease is null ? new OwnConnection(connection) : new LeasedConnection(lease);
        IStatement statement = command is not null
            ? new PreparedStatement(command, pool)
            : keeps
                ? new LeasedStatement(lease!, sql, pool)
                : (IStatement)Instance(typeof(AdhocStatement<>), [source.GetType()], source, sql, pool);
        var site = new StepSite(spec.Sql, spec.Repeat, command, digest);
        return spec.Operation switch
        {
            Operation.Get => OfRows(typeof(GetStep<,>)),
            // A typed row is read in place, so there is nothing for `all` to collect.
            Operation.All when spec.Shape != Shape.Typed => OfRows(typeof(AllStep<,>)),
            Operation.All or Operation.Iterate => OfRows(typeof(IterateStep<,>)),
            Operation.Run when spec.Fails is { } code => Create(typeof(FailStep<>), [statement.GetType()], site, statement, code),
            Operation.Run => Create(typeof(RunStep<>), [statement.GetType()], site, statement),
            Operation.Execute => Create(typeof(ExecuteStep<>), [statement.GetType()], site, statement),
            Operation.Open => Create(typeof(OpenStep<>), [RowTypes.Of(spec.Shape, spec.Columns)], site, maker, sql, pool),
            Operation.OpenFile => Create(typeof(OpenFileStep<>), [RowTypes.Of(spec.Shape, spec.Columns)], site, maker, sql, pool),
            _ => Create(typeof(PrepareStep<>), [source.GetType()], site, source, sql.Text),
        };

        Step OfRows(Type step) =>
            Create(step, [RowTypes.Of(spec.Shape, spec.Columns), statement.GetType()], site, statement);
    }

    /// <summary>A step for a query without parameters that reads all its rows.</summary>
    public static Step MakeQuery(string sql, Column[] columns, SqliteConnection connection, Digest? digest) =>
        Create(
            typeof(IterateStep<,>),
            [RowTypes.Of(Shape.Typed, columns), typeof(AdhocStatement<OwnConnection>)],
            new StepSite(sql, 1, null, digest),
            new AdhocStatement<OwnConnection>(new OwnConnection(connection), new NamedSql(sql, []), [[]]));

    private static SqliteCommand Prepare(SqliteConnection connection, NamedSql sql, object[] values)
    {
        var command = connection.CreateCommand();
        try
        {
            command.CommandText = sql.Text;
            for (var index = 0; index < values.Length; index++)
            {
                command.Parameters.AddWithValue(sql.Names[index], values[index]);
            }

            command.Prepare();
            return command;
        }
        catch
        {
            command.Dispose();
            throw;
        }
    }

    private static Step Create(Type generic, Type[] types, params object[] arguments) =>
        (Step)Instance(generic, types, arguments);

    private static object Instance(Type generic, Type[] types, params object[] arguments) =>
        Activator.CreateInstance(generic.MakeGenericType(types), arguments)!;
}

/// <summary>The job asks for something this runner does not have; the message is the reason.</summary>
internal sealed class UnsupportedException(string reason) : Exception(reason);
