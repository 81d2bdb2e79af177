import ArgumentParser
import Foundation
import Glibc
import Simulation
import Synchronization

/// Posts signed beforehand, in a file without a name: signing costs as much as verifying, and would take the cores from what
/// is measured.
final class PreparedPosts: Sendable {
    /// How many there are.
    var count: Int { sizes.count }
    private let descriptor: Int32
    private let sizes: [Int]
    private let given = Atomic(0)

    /// Signs them, on all cores.
    init(_ notifications: Int, seed: UInt64, by authority: SimulatedAuthority) async throws {
        let now = Milliseconds(Int64(Date().timeIntervalSince1970 * 1000))
        let path = FileManager.default.temporaryDirectory.appending(path: "storehook-posts-\(UUID().uuidString)").path
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL, 0o600)
        unlink(path)
        guard descriptor >= 0 else { throw ValidationError("cannot write \(path)") }
        var sizes: [Int] = []
        var chunk: [Delivery] = []
        for delivery in Simulation(seed: seed, notifications: notifications, endingAt: now).deliveries {
            chunk.append(delivery)
            if chunk.count == 1000 {
                sizes += try await Self.sign(chunk, authority, to: descriptor)
                chunk.removeAll(keepingCapacity: true)
            }
        }
        sizes += try await Self.sign(chunk, authority, to: descriptor)
        // What waits to be written would be written while something else is measured.
        guard fsync(descriptor) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else { throw Self.full }
        self.descriptor = descriptor
        self.sizes = sizes
    }

    deinit { close(descriptor) }

    /// The next post, as a whole HTTP request; for one thread.
    func next() throws -> [UInt8] {
        let number = given.add(1, ordering: .relaxed).oldValue
        guard number < sizes.count else { throw NeverCameAbout(what: "another prepared post") }
        let size = sizes[number]
        var request = [UInt8](repeating: 0, count: size)
        guard read(descriptor, &request, size) == size else { throw NeverCameAbout(what: "a prepared post, read back") }
        return request
    }

    private static func sign(
        _ deliveries: [Delivery], _ authority: SimulatedAuthority, to descriptor: Int32
    ) async throws -> [Int] {
        let half = deliveries.count / 2
        async let first = deliveries[..<half].map { Array($0.notification.signed(by: authority).utf8) }
        async let second = deliveries[half...].map { Array($0.notification.signed(by: authority).utf8) }
        var sizes: [Int] = []
        for jws in await first + second {
            let request = LoadRequest.post(jws)
            guard write(descriptor, request, request.count) == request.count else { throw full }
            sizes.append(request.count)
        }
        return sizes
    }

    private static var full: NeverCameAbout {
        NeverCameAbout(
            what: "room for the prepared posts, 18 kB each, in \(FileManager.default.temporaryDirectory.path)")
    }
}
