/// What a simulation delivered, for holding a receiver's counts against.
public struct SimulationSummary: Sendable, Hashable {
    /// Deliveries in all.
    public private(set) var total = 0
    /// First deliveries: as many as there are different notificationUUIDs.
    public private(set) var unique = 0
    /// Repeats.
    public private(set) var duplicates = 0
    /// First deliveries by notificationType.
    public private(set) var uniqueByType: [String: Int] = [:]
    /// The earliest outer signed date, nil before the first delivery.
    public private(set) var firstSignedDate: Milliseconds?
    /// The latest outer signed date, nil before the first delivery.
    public private(set) var lastSignedDate: Milliseconds?

    /// Nothing delivered.
    public init() {}

    mutating func count(_ delivery: Delivery) {
        total += 1
        if delivery.isDuplicate {
            duplicates += 1
            return
        }
        unique += 1
        uniqueByType[delivery.notification.type, default: 0] += 1
        let date = delivery.notification.signedDate
        firstSignedDate = min(firstSignedDate ?? date, date)
        lastSignedDate = max(lastSignedDate ?? date, date)
    }
}
