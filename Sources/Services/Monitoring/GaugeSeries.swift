import Metrics
import Synchronization

/// One gauge with its labels.
final class GaugeSeries: MeterHandler, RecorderHandler {
    private let current = Mutex(0.0)

    var value: Double { current.withLock(\.self) }

    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { current.withLock { $0 = value } }
    func increment(by amount: Double) { current.withLock { $0 += amount } }
    func decrement(by amount: Double) { increment(by: -amount) }
    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }
}
