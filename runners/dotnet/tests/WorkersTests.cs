using System.IO.Pipes;
using System.Runtime.InteropServices;
using Xunit;

namespace Sqlitmus.Tests;

public sealed class WorkersTests : IDisposable
{
    private const string Get = """
        "steps": [{"operation": "get", "sql": "SELECT i FROM t WHERE id = ?", "columns": [{"name": "i", "type": "integer"}],
                   "parameters": {"types": ["integer"], "rows": [[1], [3], [9], [1]]}}]
        """;

    private readonly JobRun _run = new();

    public void Dispose() => _run.Dispose();

    [Fact]
    public void Shares_of_two_processes_add_up_to_the_whole()
    {
        var whole = Perform("");
        var first = Perform(", \"share\": {\"first\": 0, \"of\": 3}");
        var second = Perform(", \"workers\": 2, \"share\": {\"first\": 1, \"of\": 3}");
        Assert.Equal((3L, 8L), (first.Operations, second.Operations));
        Assert.Equal(whole.Rows, first.Rows + second.Rows);
        Assert.NotEqual(0, first.Rows);

        Assert.Equal(whole.Checksum, unchecked(first.Checksum + second.Checksum));

        Result Perform(string more) => _run.Perform($$"""
            {{Get}}, "measure": {"operations_per_iteration": 11{{more}}}
            """, "verify");
    }

    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    public async Task At_the_barrier_an_iteration_begins_after_its_line(int workers)
    {
        using var pipes = new Pipes();
        var taken = Task.Run(() => Take($$"""
            {{Get}}, "measure": {"operations_per_iteration": 9, "workers": {{workers}}, "iterations": 2,
                                 "warmup_iterations": 1, "share": {"of": {{workers}}} }
            """, pipes));
        var released = new List<DateTime>();
        for (var iteration = 0; iteration < 3; iteration++)
        {
            Assert.Equal("ready", await pipes.Told.ReadLineAsync());
            released.Add(DateTime.UtcNow);
            await pipes.Tell.WriteAsync("go\n");
        }

        var timings = await taken;
        Assert.Equal(workers, timings.Workers.Length);
        foreach (var worker in timings.Workers)
        {
            Assert.Equal(2, worker.SpansUs.Length);
            // The first line released the warm-up.
            foreach (var ((start, end), release) in worker.SpansUs.Zip(released.Skip(1)))
            {
                Assert.InRange(start, (release - DateTime.UnixEpoch).TotalMicroseconds, end);
            }
        }
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public async Task The_end_of_stdin_at_the_barrier_fails(int workers)
    {
        using var pipes = new Pipes();
        var taken = Task.Run(() => Take($$"""
            {{Get}}, "measure": {"operations_per_iteration": 9, "workers": {{workers}}, "share": {"of": {{workers}}} }
            """, pipes));
        Assert.Equal("ready", await pipes.Told.ReadLineAsync());
        pipes.Tell.Dispose();
        var error = await Assert.ThrowsAsync<MeasurementException>(() => taken);
        Assert.StartsWith("stdin ended", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Who_fails_before_the_barrier_awaits_nothing()
    {
        var told = new StringWriter();
        var job = _run.Read("""
            "steps": [{"operation": "run", "sql": "INSERT INTO missing VALUES (1)", "statement": "adhoc"}],
            "transaction": "read", "measure": {"operations_per_iteration": 2, "iterations": 2, "workers": 2, "share": {"of": 2} }
            """);
        using var workers = new Workers(job, new ProcessBarrier(new StringReader("go\ngo\n"), told));
        Assert.Throws<StatementException>(() => Iterations.Take(job, workers));
        Assert.Equal("ready\n", told.ToString());
        // The error of the first iteration stays: nobody is told to be ready for the second.
        Assert.Throws<StatementException>(workers.Iterate);
        Assert.Equal("ready\n", told.ToString());
    }

    [Fact]
    public void Fewer_threads_than_workers_fail_with_the_reason()
    {
        var job = _run.Read($$"""{{Get}}, "measure": {"operations_per_iteration": 9, "workers": 4}""");
        var started = 0;
        var error = Assert.Throws<MeasurementException>(() => new Workers(job, null, thread =>
        {
            if (started == 2)
            {
#pragma warning disable CA2201 // What the runtime throws where it can start no thread.
                throw new OutOfMemoryException("no more");
#pragma warning restore CA2201
            }

            started++;
            thread.Start();
        }));
        Assert.StartsWith("the system allows 2 of the 4 threads", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void More_workers_than_there_can_be_fail()
    {
        var result = _run.Perform($$"""{{Get}}, "measure": {"operations_per_iteration": 9, "workers": 40000}""");
        Assert.Equal("failed", result.Status);
        Assert.Contains("40000 workers", result.Error!.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(1, "measure")]
    [InlineData(2, "measure")]
    [InlineData(2, "verify")]
    public void A_writer_works_beside_the_workers_and_is_told_last(int workers, string mode)
    {
        var result = _run.Perform($$"""
            {{Get}}, "reset": ["DELETE FROM sink"], "reset_every": 4,
            "writer": {"steps": [{"operation": "run", "sql": "INSERT INTO sink(a) VALUES (?)",
                                  "parameters": {"types": ["integer"], "rows": [[10], [20]]} }],
                       "operations": 2, "rate": 1e6, "transaction": "immediate"},
            "readback": [{"sql": "SELECT a FROM sink ORDER BY a", "columns": [{"name": "a", "type": "integer"}]}],
            "measure": {"operations_per_iteration": 4, "iterations": 2, "workers": {{workers}}}
            """, mode);
        Assert.Null(result.Error?.Message);
        Assert.Equal(mode == "verify" ? (4L, 3L, 0L) : (8L, 6L, 0L), (result.Operations, result.Rows, result.Affected));
        Assert.Equal(new Proof(2, (10 * 31) + 20), result.Readback);
        if (mode == "verify")
        {
            Assert.Empty(result.Workers);
            return;
        }

        Assert.Equal([.. Enumerable.Repeat("worker", workers), "writer"], result.Workers.Select(worker => worker.Role));
        var sum = result.Workers[..^1].Aggregate(0u, (sum, worker) => unchecked(sum + worker.Checksum));
        Assert.Equal(sum, result.Checksum);
        var writer = result.Workers[^1];
        Assert.Equal((4L, 0L, 4u), (writer.Operations, writer.Rows, writer.Checksum));
        Assert.NotNull(writer.Pacing);
        Assert.All(result.IterationsNs.Zip(writer.IterationsNs), pair => Assert.True(pair.First >= pair.Second));
    }

    [Fact]
    public void A_writer_that_fails_ends_the_workers()
    {
        var result = _run.Perform($$"""
            {{Get}}, "writer": {"steps": [{"operation": "run", "sql": "INSERT INTO t(id) VALUES (1)"}], "operations": 1},
            "measure": {"operations_per_iteration": 4, "workers": 2}
            """);
        Assert.Equal(("failed", "INSERT INTO t(id) VALUES (1)"), (result.Status, result.Error!.Sql));
    }

    [Fact]
    public void Latencies_are_those_of_the_measured_operations()
    {
        var result = _run.Perform($$"""
            {{Get}}, "measure": {"operations_per_iteration": 5, "iterations": 3, "warmup_iterations": 2, "latencies": true}
            """);
        var worker = Assert.Single(result.Workers);
        Assert.Equal(15, worker.Latencies!.Filled().Sum(bucket => bucket.Count));
        Assert.Null(worker.Pacing);
        Assert.Equal(("worker", 25L, 3, 0L), (worker.Role, worker.Operations, worker.IterationsNs.Length, worker.Busy));
        Assert.Equal((19L, result.Checksum), (worker.Rows, worker.Checksum));
    }

    [Fact]
    public void Planned_times_pace_the_operations()
    {
        var result = _run.Perform($$"""
            {{Get}}, "measure": {"operations_per_iteration": 4, "rate": 2000}
            """);
        // The last of four is planned 1.5 ms after the start.
        Assert.True(Assert.Single(result.IterationsNs) >= 1_500_000);
        var worker = Assert.Single(result.Workers);
        Assert.NotNull(worker.Pacing);
        Assert.Null(worker.Latencies);
    }

    [Fact]
    public void Context_switches_and_page_faults_are_counted_where_the_system_tells()
    {
        var result = _run.Perform($$"""{{Get}}, "measure": {"operations_per_iteration": 4}""");
        var told = !OperatingSystem.IsWindows();
        Assert.Equal((told, told), (result.Switches is not null, result.PageFaults is not null));
        var before = Native.Events();
        Native.Sleep(1_000_000); // a shorter wait can be over before the thread has let go
        // beyond malloc's largest threshold, so that its pages are fresh from the system
        const int size = 64 << 20;
        var pages = Marshal.AllocHGlobal(size);
        for (var offset = 0; offset < size; offset += 4096)
        {
            Marshal.WriteByte(pages, offset, 1);
        }

        Marshal.FreeHGlobal(pages);
        var after = Native.Events();
        Assert.Equal(told, after?.Switches.Voluntary > before?.Switches.Voluntary);
        Assert.Equal(told, after?.PageFaults.Minor > before?.PageFaults.Minor);
        Assert.Equal(told, after?.PageFaults.Major >= before?.PageFaults.Major);
    }

    [Fact]
    public void CPU_time_is_told_up_to_the_moment_of_the_look()
    {
        var steps = new List<TimeSpan>();
        for (var seen = Usage.Now().Cpu; steps.Count < 99;)
        {
            var now = Usage.Now().Cpu;
            if (now > seen)
            {
                steps.Add(now - seen);
            }

            seen = now;
        }

        // A clock that goes with the system's ticks makes steps of at least 1 ms, as Windows' does.
        steps.Sort();
        Assert.True(steps[49] < TimeSpan.FromMilliseconds(1) || OperatingSystem.IsWindows(), $"{steps[49]}");
    }

    [Fact]
    public void What_the_runtime_allocates_and_collects_is_told()
    {
        const string two = "\"workers\": 2, \"operations_per_iteration\": 400";
        var one = _run.Perform($$"""{{Get}}, "measure": {"operations_per_iteration": 400}""");
        var both = _run.Perform($$"""{{Get}}, "measure": { {{two}} }""");
        // A row takes some objects, of two words at least.
        Assert.All([one, both], result => Assert.InRange(result.AllocatedBytes!.Value, 400 * 16, 400 * 10_000));
        var before = Usage.Now();
        GC.Collect(0);
        GC.Collect(1);
        Assert.InRange((Usage.Now() - before).Collections, 2, 1000);
    }

    private Timings Take(string members, Pipes pipes)
    {
        var job = _run.Read(members);
        using var workers = new Workers(job, new ProcessBarrier(pipes.Input, pipes.Output));
        return Iterations.Take(job, workers);
    }

    /// <summary>The runner's stdin and stdout, and the other ends of them.</summary>
    private sealed class Pipes : IDisposable
    {
        private readonly AnonymousPipeServerStream _in = new(PipeDirection.Out);
        private readonly AnonymousPipeServerStream _out = new(PipeDirection.In);

        public Pipes()
        {
            Tell = new StreamWriter(_in) { AutoFlush = true };
            Told = new StreamReader(_out);
            Input = new StreamReader(new AnonymousPipeClientStream(PipeDirection.In, _in.ClientSafePipeHandle));
            Output = new StreamWriter(new AnonymousPipeClientStream(PipeDirection.Out, _out.ClientSafePipeHandle));
        }

        public StreamReader Input { get; }

        public StreamWriter Output { get; }

        public StreamWriter Tell { get; }

        public StreamReader Told { get; }

        public void Dispose()
        {
            Tell.Dispose();
            Told.Dispose();
            Input.Dispose();
            Output.Dispose();
        }
    }
}
