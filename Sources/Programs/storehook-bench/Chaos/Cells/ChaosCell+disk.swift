import Foundation
import Glibc

extension ChaosCell {
    /// The volume of the server's data is full for ten seconds.
    static let diskFull = ChaosCell(name: "disk-full", need: .volume, seconds: 25) { _, server in
        guard let ballast = server.volume?.appending(path: "ballast") else { return }
        defer { try? FileManager.default.removeItem(at: ballast) }
        try fill(ballast)
        try await Task.sleep(for: .seconds(10))
    }

    /// Writes until there is no room left.
    private static func fill(_ file: URL) throws {
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0 else { throw NeverCameAbout(what: "a file on the server's volume") }
        defer { close(descriptor) }
        for size in [1 << 20, 4096] {
            let block = [UInt8](repeating: 0, count: size)
            while write(descriptor, block, block.count) == block.count {}
        }
    }
}
