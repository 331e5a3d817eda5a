namespace Sqlitmus;

/// <summary>The measurement cannot go on; the message says why.</summary>
internal sealed class MeasurementException(string message) : Exception(message);
