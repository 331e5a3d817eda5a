using System.Diagnostics;
using Xunit;

namespace Sqlitmus.Tests;

public sealed class RecordingTests
{
    // An operation is planned every 100 ticks.
    private static readonly double _rate = Stopwatch.Frequency / 100.0;

    private readonly FakeTime _time = new();
    private readonly Histogram _latencies = new();
    private readonly Histogram _lateness = new();

    [Fact]
    public void After_a_stall_latencies_count_from_the_planned_times()
    {
        _time.Overshoot = 3;
        Run([350, 10, 10, 10, 10], new Pace<FakeClock>(_rate, 0, new FakeClock(_time), _lateness));
        // Planned at 0, 100, 200, 300, 400; ended at 350, 360, 370, 380 and, after waiting until 403, at 413.
        Assert.Equal(Buckets(13, 80, 170, 260, 350), _latencies.Filled());
        Assert.Equal(Buckets(3), _lateness.Filled());
    }

    [Fact]
    public void A_worker_begins_by_its_place_between_the_others()
    {
        Run([10, 10], new Pace<FakeClock>(_rate, 0.25, new FakeClock(_time), _lateness));
        Assert.Equal(135, _time.Ticks);
        Assert.Equal(Buckets(10, 10), _latencies.Filled());
    }

    [Fact]
    public void Without_planned_times_each_follows_the_last()
    {
        Run([350, 10, 20], null);
        Assert.Equal(380, _time.Ticks);
        Assert.Equal(Buckets(10, 20, 350), _latencies.Filled());
    }

    [Fact]
    public void At_recorded_times_a_worker_waits_for_these_and_for_nobody_else()
    {
        var us = Stopwatch.Frequency / 1_000_000;
        var order = new Order(new Sequence([1], [0, 0, 0, 0], [0, 0, 1, 0], [10, 11, 30, 50]), 0);
        int[] durations = [(int)(3 * us), (int)us, 0, (int)us];
        Run(durations, new Pace<FakeClock>(1, 0, new FakeClock(_time), _lateness, order), order);
        // Planned at 0, 1 and 40 µs, and for another worker at 20; ended at 3, 4 and 41.
        Assert.Equal(41 * us, _time.Ticks);
        Assert.Equal(Buckets(us, 3 * us, 3 * us), _latencies.Filled());
        Assert.Equal(Buckets(0), _lateness.Filled());
    }

    private void Run(int[] durations, Pace<FakeClock>? pace, Order? order = null)
    {
        Tally tally = default;
        var work = new TakesTime(_time, durations);
        new RecordedLoop<FakeClock>(work, new FakeClock(_time), _latencies, pace, tolerateBusy: false, order)
            .Run(0, durations.Length, 0, ref tally);
    }

    private static (int Bucket, long Count)[] Buckets(params long[] ticks) =>
        [.. ticks.Select(each => Histogram.BucketOf(Clock.Nanoseconds(each))).CountBy(bucket => bucket)
            .Select(pair => (pair.Key, (long)pair.Value)).Order()];

    private sealed class FakeTime
    {
        public long Ticks { get; set; }

        public long Overshoot { get; set; }
    }

    private readonly struct FakeClock(FakeTime time) : IClock
    {
        public long Now() => time.Ticks;

        public void WaitUntil(long ticks) => time.Ticks = ticks + time.Overshoot;
    }

    private sealed class TakesTime(FakeTime time, int[] durations) : Work([])
    {
        public override void Perform(long operation, ref Tally tally) => time.Ticks += durations[operation];
    }
}
