namespace Sqlitmus;

/// <summary>Lets workers of several processes begin together: tells that they are ready, and waits for a line.</summary>
internal sealed class ProcessBarrier(TextReader input, TextWriter output)
{
    public static ProcessBarrier OfConsole() =>
        new(new StreamReader(Console.OpenStandardInput()), new StreamWriter(Console.OpenStandardOutput()));

    /// <exception cref="MeasurementException">The input ended.</exception>
    public void Await()
    {
        output.Write("ready\n");
        output.Flush();
        if (input.ReadLine() is null)
        {
            throw new MeasurementException("stdin ended at the barrier; expected a line for each iteration");
        }
    }
}
