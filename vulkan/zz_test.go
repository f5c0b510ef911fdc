package vulkan_test
import ("testing";"context";"github.com/spirjoin/spirjoin/backend";"github.com/spirjoin/spirjoin/vulkan/vulkantest")
func TestZZ(t *testing.T){
 for _, info := range vulkantest.Devices(t) {
  a,b := openDevice(t,info.ID), openDevice(t,info.ID)
  for path := backend.SharedAllocation; path<backend.PeerPaths; path++ {
   l,err := backend.Connect(context.Background(),a,b,path)
   if err != nil { t.Log(path, err); continue }
   t.Log(info.Name, path, l.BytesPerSecond/1e9)
   if err:=l.Close(); err!=nil {t.Error(err)}
  }
 }
}
